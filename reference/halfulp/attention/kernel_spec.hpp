// KernelSpec: a quantized attention kernel as data. Every float32 step it names is one IEEE operation, nearest even,
// subnormals kept, never contracted unless written fma. The steps are in docs/attention.md; rows of queries are independent.
//
// The engine (kernel.hpp) and its exact twin (kernel_exact.hpp) run what stands here; nothing else describes a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace halfulp::attention {

enum class TileOrder : std::uint8_t { ascending, descending };

/// Which P is summed into l: before prescale and cast, or the decoded code.
enum class SumOf : std::uint8_t { f32, quantized };

/// How O takes part in the PV product: as c of the first chunk of a tile, or by one add per piece that starts from zero.
enum class PvMode : std::uint8_t { chained, two_level };

/// How far from a query a mask reaches at most.
inline constexpr std::int64_t kFarthestKey = std::int64_t{1} << 40;

/// Keys that a query i of Lq sees among Lk: j <= i + Lk - Lq (causal), and i + Lk - Lq - before <= j <= i + Lk - Lq + after.
struct Window {
  std::int64_t before = 0, after = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

/// cap * tanh(S * scale), applied to S before the logit scale. `scale` is softmax scale / cap, made on the host.
struct SoftCap {
  float cap = 0, scale = 0;
  friend bool operator==(const SoftCap&, const SoftCap&) = default;
};

struct KernelSpec {
  std::string name;  ///< of the preset it came from; empty for none

  int tile = 64;                              ///< keys per tile; the last tile in key order may be short
  TileOrder order = TileOrder::ascending;     ///< of tiles; inside a tile k ascends
  int split = 0;                              ///< keys per part of split KV; 0: one part. A multiple of `tile`

  std::string qk_model = "hopper_fp8_wgmma";  ///< accumulation model of Q K^T, c = 0
  std::string q_format = "e4m3", k_format = "e4m3";
  std::optional<SoftCap> softcap;

  float offset = 8;                           ///< added to every exponent
  std::optional<float> threshold;             ///< stale rule: keep m unless rn(rn(candidate - m) * L) > threshold
  std::optional<float> prescale;              ///< P is multiplied by it before the cast
  SumOf sum_of = SumOf::f32;
  int lanes = 1;                              ///< partial sums of a row: 1 or 4

  std::string pv_model = "hopper_fp8_wgmma";
  std::string p_format = "e4m3", v_format = "e4m3";
  std::string pv_output = "f32";              ///< of the PV model: f32, or f16 (widened before it is added to O; two_level only)
  PvMode pv = PvMode::chained;
  int interval = 0;                           ///< two_level: keys per piece; 0: the tile

  std::string out = "f32";                    ///< format of O

  bool causal = false;
  std::optional<Window> window;
  std::int64_t visible_prefix = 0;            ///< the first keys, seen whatever the window says

  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

}  // namespace halfulp::attention
