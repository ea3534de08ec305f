// The engine equals its exact twin on 10^7 chunks of every model.
#include "accumulation_twins.hpp"

namespace {

class Models : public testing::TestWithParam<std::size_t> {};

TEST_P(Models, EngineIsTheTwinOnTenMillionChunks) {
  accumulation_twins::compare_model(halfulp::accumulation::models()[GetParam()], 10'000'000, 1'000'000);
}

INSTANTIATE_TEST_SUITE_P(All, Models, testing::Range(std::size_t{0}, halfulp::accumulation::models().size()), [](const auto& each) {
  return std::string(halfulp::accumulation::models()[each.param].name);
});

}  // namespace
