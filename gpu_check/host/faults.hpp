// Faults that the thread shim finds in a kernel.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace halfulp::gpu::host {

enum class FaultKind {
  race,           ///< two accesses to one word without a barrier between them, one of them a write; or one while an operation in flight writes the word
  out_of_range,   ///< an index outside its array
  uninitialised,  ///< a read of a word that nobody wrote
  divergence,     ///< a barrier that some threads of the block or warp do not reach
  canary,         ///< bytes beside a buffer were overwritten
  order,          ///< results that depend on the order of threads or blocks
  lifetime,       ///< tensor memory given back while it is in use, used after that, or never given back
};

constexpr std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::race: return "race";
    case FaultKind::out_of_range: return "out of range";
    case FaultKind::uninitialised: return "uninitialised read";
    case FaultKind::divergence: return "barrier divergence";
    case FaultKind::canary: return "write outside a buffer";
    case FaultKind::order: return "result depends on the order of threads";
    case FaultKind::lifetime: return "lifetime of tensor memory";
  }
  return "";
}

struct Fault {
  FaultKind kind;
  std::string text;  ///< names the array, the index and the threads
};

/// Faults of one launch, all thread orders together.
struct Faults {
  static constexpr std::size_t kKept = 16;
  std::vector<Fault> first;  ///< the first kKept, in the order in which they were met
  std::size_t count = 0;
  std::size_t of_kind[7] = {};

  void add(FaultKind kind, std::string text) {
    ++count;
    ++of_kind[static_cast<std::size_t>(kind)];
    if (first.size() < kKept) first.push_back({kind, std::move(text)});
  }
  void add(const Faults& more) {
    count += more.count;
    for (std::size_t i = 0; i < std::size(of_kind); ++i) of_kind[i] += more.of_kind[i];
    for (const Fault& fault : more.first) {
      if (first.size() < kKept) first.push_back(fault);
    }
  }
  bool has(FaultKind kind) const { return of_kind[static_cast<std::size_t>(kind)] != 0; }
  std::string text() const {
    std::string all;
    for (const Fault& fault : first) all += std::string(name_of(fault.kind)) + ": " + fault.text + "\n";
    return all;
  }
};

}  // namespace halfulp::gpu::host
