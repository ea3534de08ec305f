// Implementation: a cast under test - its name, the SPECs it claims to follow, and functions from words to
// words.
//
// Decides: what `--impl NAME` means. Each library is a table of claims in a file of its own (impl_*.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/plan.hpp"
#include "halfulp/vectors/trouble.hpp"

namespace halfulp::vectors {

/// Casts container words of the source format to container words of the target, one after another, in host
/// byte order and storage_bytes() each. May be called from several threads. Throws KernelFailure.
using Kernel = std::function<void(std::span<const std::byte> in, std::span<std::byte> out)>;

/// The implementation crashed, hung or gave a short answer: a finding, not an error of the user.
struct KernelFailure : std::runtime_error {
  explicit KernelFailure(const std::string& why, Trouble kind = Trouble::failure, std::uint64_t rows = 0)
      : std::runtime_error(why), trouble(kind), answered(rows) {}
  Trouble trouble;
  std::uint64_t answered;  ///< rows of the call that were answered before it; their answers count
};

/// A promise: judged under `spec`, the function agrees everywhere.
struct Claim {
  std::string spec;  ///< `cast:FROM:TO@DIALECT[,option=value]…`
  std::function<Kernel()> open;
};

struct Implementation {
  std::string name;
  std::string about;    ///< what it is, in one line
  std::string version;  ///< of the library, or of this project
  std::string missing;  ///< why it cannot be used here; empty when it can
  std::vector<Claim> claims;
  /// Set for implementations that follow any plan; claims are then only examples.
  std::function<Kernel(const CastPlan&)> open_plan;
};

/// Everything that `--impl list` shows, the missing ones included. Mutants are listed by mutants().
std::vector<const Implementation*> implementations();

/// Deliberately wrong casts, `mutant:NAME`, each with the SPEC under which it is wrong as its claim.
const std::vector<Implementation>& mutants();

/// By name, among both. Throws InputError with the nearest names.
const Implementation& require_implementation(std::string_view name);

/// A cast to be judged and the function to be judged by it.
struct Chosen {
  CastPlan plan;
  Kernel kernel;
  bool own_dialect = false;  ///< the SPEC named none, so the implementation's fills the open fields
  /// What of the plan no claim holds, e.g. `rounding=to_odd`; empty when all is claimed.
  std::string unclaimed = {};
};

/// Resolves a SPEC for an implementation. Where the SPEC names no dialect, the implementation's own dialect
/// fills the fields that it does not name. Throws InputError when the implementation has no such cast.
Chosen choose(const Implementation& implementation, const CastRequest& request);

// The tables of the libraries, each in its file; `missing` says why one cannot be used.
Implementation scalar_engine();
Implementation batch_engine();
Implementation cpu_f16c();
Implementation cpu_avx512_bf16();
Implementation cpu_arm_fcvt();
Implementation cuda_headers();
Implementation apfloat();
Implementation ml_dtypes();
Implementation gfloat();
Implementation numpy();

/// Applies f to every word: `map_words<uint32_t, uint8_t>(in, out, f)`.
template <class From, class To, class F>
void map_words(std::span<const std::byte> in, std::span<std::byte> out, F f) {
  const std::size_t count = in.size() / sizeof(From);
  for (std::size_t i = 0; i < count; ++i) {
    From word;
    std::memcpy(&word, in.data() + i * sizeof(From), sizeof(From));
    const To result = f(word);
    std::memcpy(out.data() + i * sizeof(To), &result, sizeof(To));
  }
}

/// Calls visit(tag of the unsigned type with that many bytes).
template <class Visit>
decltype(auto) with_word_type(int bytes, Visit visit) {
  switch (bytes) {
    case 1: return visit(std::uint8_t{});
    case 2: return visit(std::uint16_t{});
    case 4: return visit(std::uint32_t{});
    default: return visit(std::uint64_t{});
  }
}

/// The same for any two formats.
template <class F>
void map_storage(const FormatSpec& from, const FormatSpec& to, std::span<const std::byte> in,
                 std::span<std::byte> out, F f) {
  with_word_type(from.storage_bytes(), [&](auto source) {
    with_word_type(to.storage_bytes(), [&](auto target) {
      using Target = decltype(target);
      map_words<decltype(source), Target>(
          in, out, [&](auto word) { return static_cast<Target>(f(std::uint64_t{word})); });
    });
  });
}

}  // namespace halfulp::vectors
