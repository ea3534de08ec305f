// The table tier: answers of halfulp::cast (its twin), looked up by source word, or by the top bits of an f32 word with
// one more bit that says whether anything was cut off. Tables are filled by the engine, so they cannot disagree with it.
#include <cstring>

#include "halfulp/cast.hpp"
#include "halfulp/detail/batch_plan.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::detail {
namespace {

constexpr FormatSpec kF32 = spec_of("f32");
constexpr std::size_t kChunk = 1024;  // codes written before looking for markers among them

/// Calls use(Word{}) with the unsigned type of that many bytes.
template <class Use>
auto with_word(int bytes, Use use) {
  switch (bytes) {
    case 1: return use(std::uint8_t{});
    case 2: return use(std::uint16_t{});
    case 4: return use(std::uint32_t{});
    default: return use(std::uint64_t{});
  }
}

template <class Word>
Word load(const void* from, std::size_t index) {
  Word word;
  std::memcpy(&word, static_cast<const std::uint8_t*>(from) + index * sizeof(Word), sizeof(Word));
  return word;
}

template <class Word>
void store(void* to, std::size_t index, Word word) {
  std::memcpy(static_cast<std::uint8_t*>(to) + index * sizeof(Word), &word, sizeof(Word));
}

template <class In, class Out>
BatchResult look_up(const DirectTable& table, const BatchPlan& plan, const void* in, std::size_t count, void* out) {
  const std::uint8_t* codes = table.codes.data();
  if (table.refused.empty()) {
    for (std::size_t i = 0; i < count; ++i) store(out, i, load<Out>(codes, load<In>(in, i)));
    return {count, Refusal::none};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const In word = load<In>(in, i);
    if (table.refused[word]) return {i, cast(plan.from, word, plan.to, plan.policy).refusal};
    store(out, i, load<Out>(codes, word));
  }
  return {count, Refusal::none};
}

/// Exact words fill the first half of the table, all others the second, so that common data touch one half only.
std::uint32_t sticky_index(std::uint32_t word, int shift) {
  const std::uint32_t inexact = (word & static_cast<std::uint32_t>(low_mask(shift))) != 0 ? 1 : 0;
  return (word >> shift) | inexact << (32 - shift);
}

/// out[i] = codes[indices[i]], written eight at a time: single bytes would be bound by the number of stores.
void look_up_eights(const std::uint8_t* codes, const std::uint32_t* indices, std::size_t count, std::uint8_t* out) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    std::array<std::uint8_t, 8> eight;
    for (std::size_t k = 0; k < 8; ++k) eight[k] = codes[indices[i + k]];
    std::memcpy(out + i, eight.data(), 8);
  }
  for (; i < count; ++i) out[i] = codes[indices[i]];
}

/// Fills codes and ask; returns how many entries ask although no word of theirs is refused.
std::size_t fill(StickyTable& table, const FormatSpec& to, const CastPolicy& policy) {
  const std::size_t tops = std::size_t{1} << (32 - table.shift);
  table.codes.assign(2 * tops, 0);
  table.ask.assign(2 * tops, false);
  std::size_t split = 0;
  for (std::size_t top = 0; top < tops; ++top) {
    const auto word = static_cast<std::uint32_t>(top << table.shift);
    const auto last_word = static_cast<std::uint32_t>(word | low_mask(table.shift));
    const CastResult exact = cast(kF32, word, to, policy);
    const CastResult first = cast(kF32, word + 1, to, policy);
    const CastResult last = cast(kF32, last_word, to, policy);  // casts are monotone: what the ends share, all share
    table.codes[top] = static_cast<std::uint8_t>(exact.code);
    table.codes[tops + top] = static_cast<std::uint8_t>(first.code);
    table.ask[top] = exact.refusal != Refusal::none;
    table.ask[tops + top] = first.refusal != last.refusal || first.code != last.code || first.refusal != Refusal::none;
    if (first.refusal != last.refusal || first.code != last.code) ++split;
  }
  return split;
}

}  // namespace

DirectTable make_direct_table(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy) {
  DirectTable table;
  table.code_bytes = to.storage_bytes();
  const std::size_t words = std::size_t{1} << (8 * from.storage_bytes());
  table.codes.resize(words * static_cast<std::size_t>(table.code_bytes));
  table.refused.assign(words, false);
  bool any = false;
  for (std::size_t word = 0; word < words; ++word) {
    const CastResult r = cast(from, word, to, policy);
    table.refused[word] = r.refusal != Refusal::none;
    any = any || table.refused[word];
    with_word(table.code_bytes, [&]<class Out>(Out) { store(table.codes.data(), word, static_cast<Out>(r.code)); });
  }
  if (!any) table.refused.clear();
  return table;
}

StickyTable make_sticky_table(const FormatSpec& to, const CastPolicy& policy) {
  // The smallest table that decides every word: one fraction bit more than the target has (e4m3: 16 KiB), 7 or 8 for
  // integers of 8 bits. Codebook thresholds need all 32 bits: the few words around a threshold ask.
  StickyTable table;
  const int smallest_shift = to.encoding == Encoding::codebook ? 18 : 15;
  for (table.shift = 21; fill(table, to, policy) != 0 && table.shift > smallest_shift;) --table.shift;

  std::array<bool, 256> taken = {};
  bool any = false;
  for (std::size_t i = 0; i < table.codes.size(); ++i) {
    any = any || table.ask[i];
    if (!table.ask[i]) taken[table.codes[i]] = true;
  }
  if (!any) {
    table.ask.clear();
    return table;
  }
  for (std::size_t code = 256; code-- > 0 && !table.marker;) {
    if (!taken[code]) table.marker = static_cast<std::uint8_t>(code);
  }
  if (!table.marker) return table;
  for (std::size_t i = 0; i < table.codes.size(); ++i) {
    if (table.ask[i]) table.codes[i] = *table.marker;
  }
  table.ask.clear();
  return table;
}

BatchResult run_direct(const BatchPlan& plan, const void* in, std::size_t count, void* out) {
  std::size_t done = 0;
  if (plan.decode) done = decode_to_f32(*plan.decode, static_cast<const std::uint8_t*>(in), count, out);
  if (done == count) return {count, Refusal::none};
  return with_word(plan.direct->code_bytes, [&]<class Out>(Out) {
    return plan.from.storage_bytes() == 1 ? look_up<std::uint8_t, Out>(*plan.direct, plan, in, count, out)
                                          : look_up<std::uint16_t, Out>(*plan.direct, plan, in, count, out);
  });
}

BatchResult run_sticky(const BatchPlan& plan, const void* in, std::size_t count, void* out) {
  const StickyTable& table = *plan.sticky;
  const std::uint8_t* codes = table.codes.data();
  const int shift = table.shift;
  auto* bytes = static_cast<std::uint8_t*>(out);
  std::uint32_t indices[kChunk];
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    const std::size_t end = count - begin > kChunk ? begin + kChunk : count;
    for (std::size_t i = begin; i < end; ++i) indices[i - begin] = sticky_index(load<std::uint32_t>(in, i), shift);
    look_up_eights(codes, indices, end - begin, bytes + begin);
    if (!table.marker && table.ask.empty()) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (table.marker) {
        const void* hit = std::memchr(bytes + i, *table.marker, end - i);
        if (hit == nullptr) break;
        i = static_cast<std::size_t>(static_cast<const std::uint8_t*>(hit) - bytes);
      } else if (!table.ask[sticky_index(load<std::uint32_t>(in, i), shift)]) {
        continue;
      }
      const CastResult r = cast(kF32, load<std::uint32_t>(in, i), plan.to, plan.policy);
      if (r.refusal != Refusal::none) return {i, r.refusal};
      bytes[i] = static_cast<std::uint8_t>(r.code);
    }
  }
  return {count, Refusal::none};
}

BatchResult run_scalar(const BatchPlan& plan, const void* in, std::size_t begin, std::size_t count, void* out,
                       std::span<const std::uint32_t> random) {
  return with_word(plan.from.storage_bytes(), [&]<class In>(In) {
    return with_word(plan.to.storage_bytes(), [&]<class Out>(Out) -> BatchResult {
      for (std::size_t i = begin; i < count; ++i) {
        const CastResult r = cast(plan.from, load<In>(in, i), plan.to, plan.policy, random.empty() ? 0 : random[i]);
        if (r.refusal != Refusal::none) return {i, r.refusal};
        store(out, i, static_cast<Out>(r.code));
      }
      return {count, Refusal::none};
    });
  });
}

}  // namespace halfulp::detail
