#include <llvm/ADT/APFloat.h>

#include <bit>

#include "peers.hpp"

namespace halfulp::bench {

void apfloat_cast(PeerTarget to, std::span<const std::uint32_t> in, std::uint8_t* out) {
  const llvm::fltSemantics& semantics = to == PeerTarget::e4m3 ? llvm::APFloat::Float8E4M3FN() : llvm::APFloat::Float8E5M2();
  for (const std::uint32_t word : in) {
    llvm::APFloat value(std::bit_cast<float>(word));
    bool loses_info = false;
    value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses_info);
    *out++ = static_cast<std::uint8_t>(value.bitcastToAPInt().getZExtValue());
  }
}

}  // namespace halfulp::bench
