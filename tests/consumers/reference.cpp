// What a user of the oracle writes: no Boost header is needed.
#include <cstdio>

#include "halfulp/oracle/nearest.hpp"
#include "halfulp/plan.hpp"

int main() {
  const auto x = halfulp::oracle::parse_value("0.1");
  const halfulp::CastPlan plan = halfulp::make_plan(halfulp::parse_cast_spec("cast:exact:e4m3"));
  const auto truth = halfulp::oracle::nearest(*x, plan.to, plan.policy);
  const auto engine = plan(halfulp::parse_literal("0.1").value);
  std::printf("0x%02x\n", static_cast<unsigned>(truth.code));
  return truth == engine ? 0 : 1;
}
