#include "gpu_check/host/tensor_unit.hpp"

#include <algorithm>

namespace halfulp::gpu::host {
namespace {

std::string place_of(const Access& by, const Where& where) { return by.text() + " (" + where.text() + ")"; }

}  // namespace

std::string TensorUnit::in_flight(std::size_t operation) const {
  const Operation& of = operations_[operation];
  const bool committed = std::any_of(commits_.begin(), commits_.end(), [&](const Commit& c) { return c.thread == of.by.thread && operation < c.operations; });
  return std::string(of.name) + " of " + place_of(of.by, of.where) + " is in flight: " +
         (committed ? "nobody waited at the mbarrier of its commit" : "no commit of that thread came after it");
}

bool TensorUnit::is_had(const char* what, const Where& where) const {
  if (had_ || !given_back_.by.exists()) return true;
  report(FaultKind::lifetime, std::string("tensor memory is ") + what + " by " + place_of(current_access(), where) + " after it was given back by " +
                                  place_of(given_back_.by, given_back_.where));
  return false;
}

void TensorUnit::give_back(const Where& where) {
  const Access now = current_access();
  const std::string who = "tensor memory is given back by " + place_of(now, where);
  if (!had_) {
    report(FaultKind::lifetime, who + " that was not had");
    return;
  }
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].done) continue;
    report(FaultKind::lifetime, who + " while " + in_flight(i));
    break;
  }
  for (const Use& use : uses_) {
    if (use.by.thread / kWarp == now.thread / kWarp || use.by.ordered_before(now)) continue;
    report(FaultKind::lifetime, who + " and " + use.what + " by " + place_of(use.by, use.where) + ", no barrier between");
    break;
  }
  had_ = false;
  given_back_ = {now, "", where};
}

bool TensorUnit::use(const char* what, const Where& where) {
  const Access now = current_access();
  std::erase_if(uses_, [&](const Use& use) { return use.by.thread == now.thread; });
  uses_.push_back({now, what, where});
  return is_had(what, where);
}

bool TensorUnit::issue(const char* name, const Where& where) {
  operations_.push_back({name, current_access(), where});
  return is_had("used", where);
}

bool TensorUnit::check(std::size_t word, const char* what, Reach reach, const Where& where) const {
  if (word >= writers_.size() || writers_[word] == 0) return true;
  const std::size_t operation = writers_[word] - 1;
  const Access now = current_access();
  if (operations_[operation].done || (reach == Reach::operation && operations_[operation].by.thread == now.thread)) return true;
  report(FaultKind::race, "lane " + std::to_string(word / kTensorWidth) + ", column " + std::to_string(word % kTensorWidth + kFirstColumn) +
                              " of tensor memory is " + what + " by " + place_of(now, where) + " while " + in_flight(operation));
  return false;
}

void TensorUnit::writes(std::size_t word) {
  if (word < writers_.size()) writers_[word] = operations_.size();
}

void TensorUnit::commit(const Memory& barrier) { commits_.push_back({&barrier, current_access().thread, operations_.size()}); }

void TensorUnit::arrive(const Memory& barrier) {
  for (const Commit& commit : commits_) {
    if (commit.barrier != &barrier) continue;
    for (std::size_t i = 0; i < commit.operations; ++i) operations_[i].done = operations_[i].done || operations_[i].by.thread == commit.thread;
  }
}

void TensorUnit::end(Faults& faults) const {
  if (had_) faults.add(FaultKind::lifetime, "block " + std::to_string(blockIdx.x) + " ended with tensor memory that was not given back");
}

}  // namespace halfulp::gpu::host
