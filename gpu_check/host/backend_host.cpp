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

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void append_faults(const char* name, const host::Faults& faults, Launched& launched) {
  for (const host::Fault& fault : faults.first) launched.faults.push_back(std::string(name) + ": " + std::string(name_of(fault.kind)) + ": " + fault.text);
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
    launched.seconds = seconds_since(start);
    first = contents(outputs);
  };
  for (const RunOrder& order : run_orders()) run(order, "run " + std::to_string(&order - run_orders().data() + 1));
  // Accesses that race would be undefined on the CPU too.
  if (grid.blocks > 1 && all.count == faults_before) run(kConcurrent, "a run with blocks on " + std::to_string(kConcurrent.cpu_threads) + " CPU threads");
  append_faults(name, all, launched);
  return launched;
}

}  // namespace host

Launched call_library(const char* name, const std::function<std::string()>& start) {
  const std::vector<host::Memory*> outputs = host::live_outputs();
  const Snapshot before = contents(outputs);
  host::Faults faults;
  Launched launched;
  std::optional<Snapshot> first;
  for (int run = 0; run < 2; ++run) {
    restore(outputs, before);
    const auto begun = std::chrono::steady_clock::now();
    const std::string error = start();
    if (run == 0) launched.seconds = seconds_since(begun);
    if (!error.empty()) {
      launched.faults.push_back(std::string(name) + ": " + error);
      return launched;
    }
    for (host::Memory* memory : outputs) memory->check_canaries(faults);
    if (first) compare(outputs, *first, "run 2", faults);
    first = contents(outputs);
  }
  append_faults(name, faults, launched);
  return launched;
}

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
