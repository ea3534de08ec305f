#include "gpu_check/host/memory.hpp"

#include <algorithm>

namespace halfulp::gpu::host {
namespace {

std::byte canary(std::size_t at) { return static_cast<std::byte>(0xa5 ^ (at * 29)); }

}  // namespace

Memory::Memory(std::string name, std::size_t count, std::size_t element_bytes, Scope scope)
    : name_(std::move(name)), element_bytes_(element_bytes), scope_(scope), bytes_(count * element_bytes + 2 * kGuard, std::byte{0xff}), shadow_(count) {
  for (std::size_t i = 0; i < kGuard; ++i) {
    bytes_[i] = canary(i);
    bytes_[bytes_.size() - 1 - i] = canary(i);
  }
}

void Memory::forget_accesses() { std::fill(shadow_.begin(), shadow_.end(), Shadow{}); }

bool Memory::in_range(std::size_t index, const char* what) const {
  if (index < count()) return true;
  report(FaultKind::out_of_range, name_ + "[" + std::to_string(index) + "] " + what + " by " + current_access().text() + "; it has " +
                                      std::to_string(count()) + " elements");
  return false;
}

void Memory::report_race(std::size_t index, const Access& before, const char* was, const Access& now, const char* is) const {
  report(FaultKind::race, name_ + "[" + std::to_string(index) + "]: " + was + " by " + before.text() + " and " + is + " by " + now.text() +
                              ", no barrier between");
}

bool Memory::check_read(std::size_t index) {
  if (!in_range(index, "read")) return false;
  if (!is_shadowed()) return true;
  Shadow& word = shadow_[index];
  const Access now = current_access();
  if (!word.write.exists()) {
    if (!initialised_) report(FaultKind::uninitialised, name_ + "[" + std::to_string(index) + "] by " + now.text());
  } else if (!word.write.ordered_before(now)) {
    report_race(index, word.write, "write", now, "read");
  }
  if (word.reader.exists() && word.reader.block != now.block) {
    word.other_block = word.reader;
    word.reader = word.same_warp = word.other_warp = Access{};
  }
  if (!word.reader.exists() || word.reader.ordered_before(now)) {
    word.reader = now;
  } else if (word.reader.thread / kWarp == now.thread / kWarp) {
    word.same_warp = now;
  } else {
    word.other_warp = now;
  }
  return true;
}

bool Memory::check_write(std::size_t index, bool atomic) {
  if (!in_range(index, "written")) return false;
  if (!is_shadowed()) return true;
  Shadow& word = shadow_[index];
  const Access now = current_access(atomic);
  if (word.write.exists() && !word.write.ordered_before(now) && !(atomic && word.write.atomic)) {
    report_race(index, word.write, "write", now, "write");
  }
  for (const Access* reader : {&word.reader, &word.same_warp, &word.other_warp, &word.other_block}) {
    if (!reader->exists() || reader->ordered_before(now)) continue;
    report_race(index, *reader, "read", now, "write");
    break;
  }
  word = {};
  word.write = now;
  return true;
}

std::unique_lock<std::mutex> Memory::atomic_lock() const {
  static std::mutex mutex;
  return is_shadowed() ? std::unique_lock<std::mutex>() : std::unique_lock(mutex);
}

void Memory::check_canaries(Faults& faults) {
  std::size_t changed = 0;
  for (std::size_t i = 0; i < kGuard; ++i) {
    for (std::byte* byte : {&bytes_[i], &bytes_[bytes_.size() - 1 - i]}) {
      if (*byte == canary(i)) continue;
      *byte = canary(i);
      ++changed;
    }
  }
  if (changed != 0) faults.add(FaultKind::canary, std::to_string(changed) + " bytes beside " + name_);
}

}  // namespace halfulp::gpu::host
