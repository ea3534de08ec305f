// The integer engine and the oracle agree, the long runs: every 16-bit source value by value, every float32 by intervals.
#include <atomic>
#include <thread>

#include "twins.hpp"

namespace halfulp::test {
namespace {

std::vector<Format> narrow_formats_and_p3109(std::vector<std::string>& names) {
  std::vector<Format> formats;
  for (const Format& format : kFormats) {
    if (format.spec.width <= 8) formats.push_back(format);
  }
  for (int k = 3; k <= 8; ++k) {
    for (int p = 1; p <= k; ++p) {
      for (const char* suffix : {"se", "sf", "ue", "uf"}) {
        const std::string name = "binary" + std::to_string(k) + "p" + std::to_string(p) + suffix;
        if (find_format(name)) names.push_back(name);
      }
    }
  }
  for (const std::string& name : names) formats.push_back(*find_format(name));
  return formats;
}

/// Runs body(i) for i in [0, count) on all cores.
template <class Body>
void parallel(std::size_t count, Body body) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(TwinsExhaustive, AgreeValueByValueOnEverySixteenBitSourceForEveryNarrowAndP3109Format) {
  std::vector<std::string> names;
  const std::vector<Format> formats = narrow_formats_and_p3109(names);
  std::atomic<std::uint64_t> checked{0};
  parallel(formats.size() * 2, [&](std::size_t i) {
    const Format from = *find_format(i % 2 == 0 ? "f16" : "bf16");
    const std::vector<std::uint64_t> words = all_codes(from.spec);
    for (const Rounding rounding : kDeterministic) {
      for (const Overflow overflow : kOverflows) {
        checked += compare_by_value(from, words, formats[i / 2], total_policy(rounding, overflow));
      }
    }
  });
  EXPECT_EQ(checked, formats.size() * 2 * 18 * 65536);
  std::cout << "formats: " << formats.size() << ", values compared with flags: " << checked << "\n";
}

TEST(TwinsExhaustive, AgreeOnEveryFloat32ForTiesToEvenOfEveryNarrowFormat) {
  const FormatSpec from = spec_of("f32");
  std::atomic<std::uint64_t> checked{0};
  std::size_t formats = 0;
  for (const Format& to : kFormats) {
    if (to.spec.width > 8 || to.spec.encoding == Encoding::hifloat8) continue;  // hif8 has no ties_to_even
    ++formats;
    const CastPolicy policy = total_policy(Rounding::ties_to_even, Overflow::overflow);
    const oracle::ThresholdTable table(from, to.spec, policy);
    const OrderedCodes order(from);
    parallel(table.intervals().size(), [&](std::size_t i) {
      std::uint64_t agreed = 0;
      const std::uint64_t expected = table.intervals()[i].code;
      for (std::uint64_t position = table.start(i); position < table.start(i + 1); ++position) {
        const CastResult got = cast(from, order[position], to.spec, policy);
        agreed += got.code == expected && got.refusal == Refusal::none ? 1 : 0;
      }
      EXPECT_EQ(agreed, table.start(i + 1) - table.start(i))
          << to.name << std::hex << " between 0x" << table.intervals()[i].first << " and 0x" << table.intervals()[i].last;
      checked += agreed;
    });
    parallel(2, [&](std::size_t sign) {  // NaNs: every payload gives one code per sign under quiet NaNs
      std::uint64_t agreed = 0;
      const std::uint64_t first = (sign << 31) | 0x7f800001u;
      const CastResult expected = oracle::cast(from, first, to.spec, policy);
      for (std::uint64_t word = first; word <= (first | 0x7fffffu); ++word) agreed += cast(from, word, to.spec, policy) == expected;
      EXPECT_EQ(agreed, 0x7fffffu) << to.name;
      checked += agreed;
    });
    if (HasFailure()) return;
  }
  EXPECT_EQ(checked, formats << 32);
  std::cout << "formats: " << formats << ", float32 words compared: " << checked << "\n";
}

}  // namespace
}  // namespace halfulp::test
