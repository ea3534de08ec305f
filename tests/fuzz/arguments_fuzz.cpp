// Fuzzes parse_cast_spec() and make_plan(): only InputError may come out, in one line, and the SPEC of a
// plan makes the same plan again. The plans that come about are run on a few words.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "halfulp/plan.hpp"
#include "halfulp/text.hpp"

namespace {

using namespace halfulp;

[[noreturn]] void fail(std::string_view text, const std::string& why) {
  std::fprintf(stderr, "%s: '%.*s'\n", why.c_str(), static_cast<int>(text.size()), text.data());
  std::abort();
}

bool same(const CastPlan& a, const CastPlan& b) {
  return a.from_name == b.from_name && a.to_name == b.to_name && a.via_name == b.via_name &&
         a.dialect == b.dialect && a.from == b.from && a.to == b.to && a.via == b.via &&
         a.policy == b.policy && a.random == b.random && a.seed == b.seed;
}

void check_result(const CastPlan& plan, const CastResult& result, std::string_view text) {
  if (result.refusal != Refusal::none) {
    const auto [why, mend] = refusal_text(result.refusal);
    if (why.empty() || mend.empty()) fail(text, "a refusal without a text");
    return;
  }
  if (result.code >> plan.to.storage_shift > low_mask(plan.to.width))
    fail(text, "a code wider than its format");
}

void run_plan(const CastPlan& plan, std::string_view text) {
  constexpr std::uint64_t kWords[] = {0,    1, 0x80, 0x3f800000, 0xffc00000, 0x7f800000, 0x3ff123456789abcd,
                                      ~0ull};
  for (const std::uint64_t word : kWords) {
    const std::uint64_t shown = word & low_mask(plan.from ? plan.from->storage_bits() : 64);
    if (plan.from) check_result(plan, plan(shown, word), text);
  }
  for (const char* literal : {"0", "-0.1", "1e30", "-inf", "nan", "2^-149"}) {
    check_result(plan, plan(parse_literal(literal).value, 3), text);
  }
}

void check_message(std::string_view text, std::string_view message) {
  if (message.find('\n') != std::string_view::npos || message.find('\0') != std::string_view::npos) {
    fail(text, "an error of several lines");
  }
  if (message.find(": ") == std::string_view::npos || message.find("; ") == std::string_view::npos) {
    fail(text, "an error without WHY or HOW TO MEND");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CastPlan plan;
  try {
    plan = make_plan(parse_cast_spec(text));
  } catch (const InputError& error) {
    check_message(text, error.what());
    return 0;
  }
  const std::string canonical = spec_text(plan);
  const CastPlan again = make_plan(parse_cast_spec(canonical));  // an InputError here is a failure
  if (!same(plan, again)) fail(text, "the SPEC makes another plan: " + canonical);
  if (spec_text(again) != canonical) fail(text, "the SPEC of the SPEC differs: " + canonical);
  run_plan(plan, text);
  return 0;
}
