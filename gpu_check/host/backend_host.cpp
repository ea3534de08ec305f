#include "gpu_check/host/backend_host.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace halfulp::gpu {
namespace {

int architecture = 90;

using Snapshot = std::vector<std::vector<std::byte>>;

Snapshot contents(const std::vector<host::Memory*>& outputs) {
  Snapshot all;
  for (const host::Memory* memory : outputs) all.emplace_back(memory->data(), memory->data() + memory->bytes());
  return all;
}

void restore(const std::vector<host::Memory*>& outputs, const Snapshot& snapshot) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::copy(snapshot[i].begin(), snapshot[i].end(), outputs[i]->data());
    outputs[i]->forget_accesses();
  }
}

void compare(const std::vector<host::Memory*>& outputs, const Snapshot& first, const std::string& run, host::Faults& faults) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto [mine, other] = std::mismatch(first[i].begin(), first[i].end(), outputs[i]->data());
    if (mine == first[i].end()) continue;
    faults.add(host::FaultKind::order, outputs[i]->name() + ": byte " + std::to_string(mine - first[i].begin()) + " differs between run 1 and " + run +
                                           " of the same launch");
  }
}

}  // namespace

namespace host {

std::vector<Memory*>& live_outputs() {
  thread_local std::vector<Memory*> outputs;
  return outputs;
}

Launched run_in_all_orders(const char* name, Grid grid, const std::function<void()>& body, Faults* faults) {
  Faults mine;
  Faults& all = faults != nullptr ? *faults : mine;
  const std::size_t faults_before = all.count;
  const std::vector<Memory*> outputs = live_outputs();
  const Snapshot before = contents(outputs);
  std::optional<Snapshot> first;
  Launched launched;
  const auto run = [&](const RunOrder& order, const std::string& label) {
    restore(outputs, before);
    const auto start = std::chrono::steady_clock::now();
    run_grid(grid.blocks, grid.threads, order, body, all);
    for (Memory* memory : outputs) memory->check_canaries(all);
    if (first) return compare(outputs, *first, label, all);
    launched.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    first = contents(outputs);
  };
  for (const RunOrder& order : run_orders()) run(order, "run " + std::to_string(&order - run_orders().data() + 1));
  // Accesses that race would be undefined on the CPU too.
  if (grid.blocks > 1 && all.count == faults_before) run(kConcurrent, "a run with blocks on " + std::to_string(kConcurrent.cpu_threads) + " CPU threads");
  for (const Fault& fault : all.first) launched.faults.push_back(std::string(name) + ": " + std::string(name_of(fault.kind)) + ": " + fault.text);
  return launched;
}

}  // namespace host

void set_modelled_architecture(int value) { architecture = value; }
int modelled_architecture() { return architecture; }

Device find_device() {
  Device found;
  found.usable = true;
  found.architecture = architecture;
  found.facts = {{"device", "none: kernels run on the CPU in the thread shim, in " + std::to_string(host::run_orders().size()) +
                                " orders of threads and blocks and with blocks on " + std::to_string(host::kConcurrent.cpu_threads) +
                                " CPU threads; matrix instructions are models of sm_" + std::to_string(architecture)}};
  return found;
}

}  // namespace halfulp::gpu
