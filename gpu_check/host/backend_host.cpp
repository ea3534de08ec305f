#include "gpu_check/host/backend_host.hpp"

#include <algorithm>
#include <chrono>

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

void compare(const std::vector<host::Memory*>& outputs, const Snapshot& first, std::size_t run, host::Faults& faults) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto [mine, other] = std::mismatch(first[i].begin(), first[i].end(), outputs[i]->data());
    if (mine == first[i].end()) continue;
    faults.add(host::FaultKind::order, outputs[i]->name() + ": byte " + std::to_string(mine - first[i].begin()) + " differs between run 1 and run " +
                                           std::to_string(run + 1) + " of the same launch");
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
  const std::vector<Memory*> outputs = live_outputs();
  const Snapshot before = contents(outputs);
  Snapshot first;
  Launched launched;
  for (std::size_t run = 0; run < run_orders().size(); ++run) {
    restore(outputs, before);
    const auto start = std::chrono::steady_clock::now();
    run_grid(grid.blocks, grid.threads, run_orders()[run], body, all);
    if (run == 0) launched.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (Memory* memory : outputs) memory->check_canaries(all);
    if (run == 0) {
      first = contents(outputs);
    } else {
      compare(outputs, first, run, all);
    }
  }
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
                                " orders of threads and blocks; matrix instructions are models of sm_" + std::to_string(architecture)}};
  return found;
}

}  // namespace halfulp::gpu
