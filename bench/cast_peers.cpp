// Goals against other implementations: the batch engine on the whole input, the peer on its first part, per element.
#include <algorithm>
#include <string>

#include "data.hpp"
#include "goal.hpp"
#include "halfulp/batch.hpp"
#include "halfulp/formats.hpp"
#include "peers.hpp"

namespace halfulp::bench {
namespace {

constexpr FormatSpec kF32 = spec_of("f32");
constexpr std::size_t kPeerElements = std::size_t{1} << 20;  // peers are slow, and their speed does not depend on size

using PeerCast = void (*)(PeerTarget, std::span<const std::uint32_t>, std::uint8_t*);

[[maybe_unused]] Comparison against_peer(PeerCast peer, PeerTarget to, const CastPolicy& policy, std::span<const std::uint32_t> in) {
  const FormatSpec target = to == PeerTarget::e4m3 ? spec_of("e4m3") : spec_of("e5m2");
  const BatchCaster caster(kF32, target, policy);
  const auto part = in.first(kPeerElements);
  const auto out = byte_output();
  caster.run(part, out);
  const std::vector<std::uint8_t> ours(out.begin(), out.begin() + kPeerElements);
  peer(to, part, out.data());
  for (std::size_t i = 0; i < kPeerElements; ++i) {  // NaN codes are each library's own
    if ((part[i] & 0x7fffffff) <= 0x7f800000 && ours[i] != out[i]) throw Skip{"results differ at element " + std::to_string(i)};
  }
  return compare({[=] { caster.run(in, out); }, static_cast<double>(in.size())},
                 {[=] { peer(to, part, out.data()); }, static_cast<double>(kPeerElements)});
}

}  // namespace

void add_peer_goals() {
  struct Row {
    const char* name;
    PeerTarget to;
    std::span<const std::uint32_t> (*words)();
  };
  const Row rows[] = {{"e4m3/rand", PeerTarget::e4m3, rand_words}, {"e4m3/norm", PeerTarget::e4m3, norm_words},
                      {"e5m2/rand", PeerTarget::e5m2, rand_words}, {"e5m2/norm", PeerTarget::e5m2, norm_words}};
  for (const Row& row : rows) {
    add_goal("against_cuda_header/" + std::string(row.name), 30, "times the peer", [=]() -> Comparison {
#ifdef HALFULP_BENCH_CUDA
      return against_peer(cuda_header_cast, row.to, {.overflow = Overflow::saturate}, row.words());
#else
      throw Skip{"built without the CUDA toolkit"};
#endif
    });
    add_goal("against_apfloat/" + std::string(row.name), 200, "times the peer", [=]() -> Comparison {
#ifdef HALFULP_BENCH_APFLOAT
      return against_peer(apfloat_cast, row.to, {.overflow = Overflow::overflow}, row.words());
#else
      throw Skip{"built without LLVM 19"};
#endif
    });
  }
}

}  // namespace halfulp::bench
