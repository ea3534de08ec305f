// Case: what a whole attention kernel is given before anything is folded - one sequence in slots of which some may be dead,
// scales apart, pages - and the Problem that the reference kernel makes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::attention {

struct Case {
  Shape shape;           ///< shape.keys: slots of k and v
  std::size_t live = 0;  ///< tokens; slots that hold none are dead and may hold anything
  std::vector<std::uint32_t> q, k, v;       ///< as in Problem; k and v by slot
  float score_scale = 1;                    ///< softmax scale * log2 e, one float32 made on the host
  std::vector<float> q_scale;               ///< one per query head
  std::vector<float> k_scale, v_scale;      ///< one per KV head
  std::vector<float> sink;                  ///< one per query head; empty: none
  std::size_t page_size = 0;                ///< tokens per page; 0: token i lies in slot i
  std::vector<std::uint32_t> page_table;    ///< logical page -> page of slots
  friend bool operator==(const Case&, const Case&) = default;

  std::size_t slot(std::size_t token) const;
  std::size_t rows() const { return shape.query_heads * shape.queries; }
};

/// A Case gathered: live tokens only, scales folded. Owns what its problem() views.
struct Gathered {
  Shape shape;
  std::vector<std::uint32_t> q, k, v;
  std::vector<float> logit_scale, v_scale, sink;
  Problem problem() const { return {shape, q, k, v, logit_scale, v_scale, sink}; }
};

/// L = rn(rn(score_scale * q_scale) * k_scale) per query head; v_scale per KV head, rn(v_scale / prescale) with a prescale that l does not hold.
Gathered gathered(const KernelSpec& spec, const Case& c);

/// The format of that name. Throws InputError with the nearest names.
const FormatSpec& format_named(std::string_view name);
/// The word of a number that the format holds exactly; throws std::logic_error for any other.
std::uint32_t word_of(const FormatSpec& format, double value);
/// The number that a word stands for, as float32 (exact for formats of at most 24 significant bits); NaN and Inf stay.
float value_of(const FormatSpec& format, std::uint32_t word);

/// Whether query i of a row sees key j of `keys` under the spec's masks (docs/attention.md).
bool is_visible(const KernelSpec& spec, const Shape& shape, std::size_t query, std::size_t key);

}  // namespace halfulp::attention
