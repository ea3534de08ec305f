// Units that read other operands, or give another result.
#include <algorithm>

#include "halfulp/unpacked.hpp"
#include "mma_mutants.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::MmaSpec;
using accumulation::Output;
using accumulation::Scheme;
using Mutant = std::optional<MmaFunction>;

/// The model on another row.
template <class Change>
Mutant on_other_row(const MmaSpec& spec, bool applies, Change change) {
  if (!applies) return std::nullopt;
  return [right = function_of(spec), change](const MmaRow& row) {
    MmaRow other = row;
    change(other);
    return right(other);
  };
}

/// The model's result, changed.
template <class Change>
Mutant with_result(const MmaSpec& spec, bool applies, Change change) {
  if (!applies) return std::nullopt;
  return [right = function_of(spec), change](const MmaRow& row) { return change(row, right(row)); };
}

bool has_nan(const FormatSpec& format) {
  return format.encoding == Encoding::floating && format.non_finite != NonFinite::none;
}
bool is_nan(const FormatSpec& format, std::uint32_t word) {
  return unpack(format, word).number_class == NumberClass::nan;
}
bool is_infinity(const FormatSpec& format, std::uint32_t word) {
  return unpack(format, word).number_class == NumberClass::infinity;
}
void flush(const FormatSpec& format, std::uint32_t& word) {
  if (unpack(format, word).number_class == NumberClass::subnormal) word = 0;
}
const FormatSpec& result_of(const MmaSpec& spec) {
  return accumulation::format_of(spec.output);
}
bool is_float(const MmaSpec& spec) {
  return spec.output != Output::int32;
}

template <class List, class Order>
void reorder(List& list, Order order) {
  const List old = list;
  for (std::size_t k = 0; k < list.size(); ++k) list[k] = old[order(k, list.size())];
}

std::size_t evens_first(std::size_t k, std::size_t count) {
  const std::size_t evens = (count + 1) / 2;
  return k < evens ? 2 * k : 2 * (k - evens) + 1;
}

}  // namespace

const std::vector<MmaMutant>& row_mutants() {
  static const std::vector<MmaMutant> table = {
      {"c_dropped", "c is left out", "mma:hopper_fp8_mma_sync",
       [](const MmaSpec& s) { return on_other_row(s, true, [](MmaRow& row) { row.c = 0; }); }},
      {"reversed", "k runs downward", "mma:hopper_f16",
       [](const MmaSpec& s) {
         return on_other_row(s, accumulation::scale_block(s) == 0, [](MmaRow& row) {
           std::reverse(row.a.begin(), row.a.end());
           std::reverse(row.b.begin(), row.b.end());
         });
       }},
      {"evens_first", "the products with even k come first", "mma:hopper_fp8_wgmma",
       [](const MmaSpec& s) {
         return on_other_row(s, accumulation::scale_block(s) == 0, [](MmaRow& row) {
           reorder(row.a, evens_first);
           reorder(row.b, evens_first);
         });
       }},
      {"halves_in_order", "the two halves of FP8 mma.sync are k below 16 and above",
       "mma:hopper_fp8_mma_sync",
       [](const MmaSpec& s) {
         return on_other_row(s, s.model.scheme == Scheme::widened_halves, [](MmaRow& row) {
           const auto place =
               [](std::size_t k,
                  std::size_t count) {  // the first half where the unit takes k mod 4 in {0, 1}
                 const std::size_t first = k / 32 * 32;
                 if (first + 32 > count) return k;
                 const std::size_t in = k - first, half = in % 4 / 2;
                 return first + 16 * half + in / 4 * 2 + in % 2;
               };
           reorder(row.a, place);
           reorder(row.b, place);
         });
       }},
      {"short_k", "the last product is left out", "mma:turing_f16",
       [](const MmaSpec& s) {
         return on_other_row(s, true, [](MmaRow& row) { row.a.back() = row.b.back() = 0; });
       }},
      {"shifted_operand", "b is read one place further", "mma:int8_imma",
       [](const MmaSpec& s) {
         return on_other_row(
             s, true, [](MmaRow& row) { std::rotate(row.b.begin(), row.b.begin() + 1, row.b.end()); });
       }},
      {"flushes_operands", "subnormal operands are zeros", "mma:hopper_f16",
       [](const MmaSpec& s) {
         return on_other_row(s, is_float(s) && !s.model.flushes, [a = s.a, b = s.b](MmaRow& row) {
           for (std::uint32_t& word : row.a) flush(a, word);
           for (std::uint32_t& word : row.b) flush(b, word);
         });
       }},
      {"flushes_results", "subnormal results are zeros", "mma:hopper_f16,from=bf16",
       [](const MmaSpec& s) {
         return with_result(s, is_float(s) && !s.model.flushes,
                            [to = result_of(s)](const MmaRow&, std::uint32_t word) {
                              flush(to, word);
                              return word;
                            });
       }},
      {"nan_is_a_number", "the NaN code of E4M3 is 480", "mma:hopper_fp8_wgmma",
       [](const MmaSpec& s) {
         const bool e4m3 = s.a == spec_of("e4m3") && s.b == spec_of("e4m3");
         return on_other_row(s, e4m3, [](MmaRow& row) {
           for (auto* words : {&row.a, &row.b}) {
             for (std::uint32_t& word : *words) word -= (word & 0x7f) == 0x7f ? 1 : 0;
           }
         });
       }},
      {"nan_is_zero", "NaN operands count as zeros", "mma:ampere_f16,from=bf16",
       [](const MmaSpec& s) {
         return on_other_row(s, has_nan(s.a), [a = s.a, b = s.b](MmaRow& row) {
           for (std::uint32_t& word : row.a) word = is_nan(a, word) ? 0 : word;
           for (std::uint32_t& word : row.b) word = is_nan(b, word) ? 0 : word;
         });
       }},
      {"infinities_win", "opposite infinities give Inf", "mma:hopper_f16",
       [](const MmaSpec& s) {
         return with_result(s, is_float(s), [s](const MmaRow& row, std::uint32_t word) {
           bool nan = is_nan(result_of(s), row.c), infinity = is_infinity(result_of(s), row.c);
           for (std::size_t k = 0; k < row.a.size(); ++k) {
             nan = nan || is_nan(s.a, row.a[k]) || is_nan(s.b, row.b[k]);
             infinity = infinity || is_infinity(s.a, row.a[k]) || is_infinity(s.b, row.b[k]);
           }
           return is_nan(result_of(s), word) && infinity && !nan
                      ? static_cast<std::uint32_t>(result_of(s).infinity_magnitude())
                      : word;
         });
       }},
      {"saturates", "an overflow gives the largest number", "mma:hopper_f16,to=f16",
       [](const MmaSpec& s) {
         return with_result(s, is_float(s), [to = result_of(s)](const MmaRow&, std::uint32_t word) {
           return is_infinity(to, word) ? word - 1 : word;
         });
       }},
      {"scale_b_dropped", "the scales of b are left out", "mma:blackwell_mxf8f6f4",
       [](const MmaSpec& s) {
         const bool applies = accumulation::scale_block(s) != 0;
         const std::uint32_t one = !applies                                    ? 0
                                   : accumulation::scale_format(s).width == 32 ? 0x3f800000
                                   : s.model.scale.format == "e8m0"            ? 0x7f
                                                                               : 0x38;
         return on_other_row(s, applies,
                             [one](MmaRow& row) { row.scale_b.assign(row.scale_b.size(), one); });
       }},
      {"scales_rotated", "every block has the scale of the next", "mma:blackwell_mxf4",
       [](const MmaSpec& s) {
         return on_other_row(s, accumulation::scale_block(s) != 0, [](MmaRow& row) {
           std::rotate(row.scale_a.begin(), row.scale_a.begin() + 1, row.scale_a.end());
         });
       }},
  };
  return table;
}

}  // namespace halfulp::vectors
