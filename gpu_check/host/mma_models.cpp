#include "gpu_check/host/mma_models.hpp"

#include <map>
#include <stdexcept>
#include <utility>

#include "gpu_check/host/backend_host.hpp"
#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/models.hpp"

namespace halfulp::gpu::host {

std::uint32_t model_dot(MmaInstruction instruction, std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, std::uint32_t c,
                        std::span<const std::uint32_t> scale_a, std::span<const std::uint32_t> scale_b) {
  using accumulation::Engine;
  thread_local std::map<std::pair<MmaInstruction, int>, Engine> engines;
  const int family = family_of(modelled_architecture());
  const auto key = std::make_pair(instruction, family);
  auto found = engines.find(key);
  if (found == engines.end()) {
    const MmaKind& kind = kind_of(instruction);
    const std::string_view model = family < 0 ? "" : kind.models[static_cast<std::size_t>(family)];
    if (model.empty()) throw std::logic_error("no model of " + std::string(kind.name) + " on the modelled architecture");
    accumulation::SpecRequest request;
    request.model = model;
    request.format_a = kind.a;
    request.format_b = kind.b;
    request.output = kind.output;
    found = engines.emplace(key, Engine(accumulation::make_spec(request))).first;
  }
  accumulation::Row row;
  row.a = a;
  row.b = b;
  row.c = c;
  row.scale_a = scale_a;
  row.scale_b = scale_b;
  return found->second.dot(row);
}

}  // namespace halfulp::gpu::host
