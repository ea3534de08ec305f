// Which parts of a spec fit together; see presets.hpp.
#include <cmath>
#include <string>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::attention {
namespace {

InputError does_not_fit(const std::string& what, const std::string& why, const std::string& mend) {
  return InputError("attention spec, " + what, why, mend);
}

/// A product that attention can use: no block scales.
accumulation::MmaSpec product(const char* key, const accumulation::SpecRequest& request) {
  accumulation::MmaSpec spec = accumulation::make_spec(request);
  if (spec.model.scale.block != 0) {
    throw does_not_fit(std::string(key) + "=" + request.model,
                       "the model needs block scales, which attention has not",
                       "choose a model without them");
  }
  return spec;
}

/// Formats that P and O are cast to: a NaN must have a code, and codes are words of 32 bits.
void check_target(const char* key, const std::string& name) {
  const FormatSpec format = require_format(name).spec;
  if (format.encoding != Encoding::floating || !format.is_signed || !format.has_nan() || format.storage_bytes() > 4) {
    throw does_not_fit(std::string(key) + "=" + name, "a NaN row has no code in it",
                       "choose a signed float format of at most 32 bits with NaN, such as e4m3 or bf16");
  }
}

void check_finite(const char* key, float x) {
  if (!std::isfinite(x)) throw does_not_fit(key, "not finite", "give a number");
}

void check_positive(const char* key, float x) {
  check_finite(key, x);
  if (x <= 0) throw does_not_fit(key, "not positive", "give a positive number, or none to leave it out");
}

}  // namespace

void check(const KernelSpec& spec) {
  if (spec.tile < 1) throw does_not_fit("tile=" + std::to_string(spec.tile), "a tile holds at least one key", "give a positive count");
  if (spec.split < 0 || spec.split % spec.tile != 0) {
    throw does_not_fit("split=" + std::to_string(spec.split), "a part would cut a tile in two",
                       "give a multiple of tile=" + std::to_string(spec.tile));
  }
  if (spec.lanes != 1 && spec.lanes != 4)
    throw does_not_fit("lanes=" + std::to_string(spec.lanes), "sums of a row have 1 or 4 lanes",
                       "choose 1 or 4");
  if (spec.interval < 0) throw does_not_fit("interval=" + std::to_string(spec.interval), "it is negative", "give a number of keys");
  if (spec.interval > 0 && spec.pv != PvMode::two_level) {
    throw does_not_fit("interval=" + std::to_string(spec.interval), "pieces exist in two levels only", "add pv=two_level");
  }
  if (spec.pv_output != "f32" && spec.pv_output != "f16")
    throw does_not_fit("pv_output=" + spec.pv_output, "PV sums are f32 or f16", "choose one of them");
  if (spec.pv_output == "f16" && spec.pv != PvMode::two_level) {
    throw does_not_fit("pv_output=f16", "O is float32 and cannot be c of an f16 sum", "add pv=two_level");
  }
  product("qk_model", {.model = spec.qk_model, .format_a = spec.q_format, .format_b = spec.k_format});
  product("pv_model", {.model = spec.pv_model, .format_a = spec.p_format, .format_b = spec.v_format, .output = spec.pv_output});
  check_target("p_format", spec.p_format);
  check_target("out", spec.out);
  check_finite("offset", spec.offset);
  if (spec.threshold) check_finite("threshold", *spec.threshold);
  if (spec.prescale) check_positive("prescale", *spec.prescale);
  if (spec.softcap) {
    check_positive("softcap", spec.softcap->cap);
    check_positive("softcap", spec.softcap->scale);
  }
  const auto far = [](std::int64_t x) { return x < -kFarthestKey || x > kFarthestKey; };
  if (spec.window && (far(spec.window->before) || far(spec.window->after))) {
    throw does_not_fit("window", "an end lies beyond 2^40 keys", "give ends within 2^40");
  }
  if (spec.visible_prefix < 0) throw does_not_fit("visible_prefix=" + std::to_string(spec.visible_prefix), "it is negative", "give a count of keys");
}

}  // namespace halfulp::attention
