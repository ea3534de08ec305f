// Prints one line per f16 -> narrow format: a digest of every code, flag and refusal over all roundings and overflow
// rules. Built by several compilers, at several optimisation levels, for several machines: the text must be the same.
#include <cstdio>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

int main() {
  using namespace halfulp;
  const FormatSpec from = spec_of("f16");
  std::uint64_t casts = 0;
  for (const Format& to : kFormats) {
    if (to.spec.width > 8) continue;
    std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a, 64 bits
    const auto add = [&hash](std::uint64_t byte) { hash = (hash ^ (byte & 0xff)) * 0x100000001b3ull; };
    for (int rounding = 0; rounding <= static_cast<int>(Rounding::stochastic); ++rounding) {
      for (int overflow = 0; overflow < 3; ++overflow) {
        const CastPolicy policy = {.rounding = static_cast<Rounding>(rounding), .overflow = static_cast<Overflow>(overflow),
                                   .nan_none = NanNone::nan_to_signed_max, .negative = Negative::abs, .zero = ZeroInto::min,
                                   .sr_variant = static_cast<Stochastic>(overflow), .sr_bits = 8};
        for (std::uint64_t word = 0; word < 65536; ++word, ++casts) {
          const CastResult r = cast(from, word, to.spec, policy, word * 37);
          add(r.code);
          add(r.flags);
          add(static_cast<std::uint64_t>(r.refusal));
        }
      }
    }
    std::printf("f16 %s %016llx\n", to.name.data(), static_cast<unsigned long long>(hash));
  }
  std::printf("casts %llu\n", static_cast<unsigned long long>(casts));
}
