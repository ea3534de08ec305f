// What a user of the header-only part writes.
#include <cstdio>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

constexpr halfulp::FormatSpec kF32 = halfulp::spec_of("f32");
constexpr halfulp::FormatSpec kE4m3 = halfulp::spec_of("e4m3");
constexpr halfulp::CastPolicy kNoSaturation = {.overflow = halfulp::Overflow::overflow};

static_assert(halfulp::cast<kF32, kE4m3>(0x43e80000).code == 0x7e);                 // 464: the tie goes to 448
static_assert(halfulp::cast<kF32, kE4m3, kNoSaturation>(0x43e80001).code == 0x7f);  // above it: NaN

int main() { std::printf("0x%02x\n", static_cast<unsigned>(halfulp::cast<kF32, kE4m3>(0x3dcccccd).code)); }
