#include "gpu_check/host/workers.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace halfulp::gpu::host {
namespace {

class Workers {
 public:
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(unsigned count, const std::function<void(unsigned)>& task) {
    std::unique_lock lock(mutex_);
    task_ = &task;
    count_ = unfinished_ = count;
    ++round_;
    while (threads_.size() < count) threads_.emplace_back([this, number = static_cast<unsigned>(threads_.size()), seen = round_ - 1] { work(number, seen); });
    changed_.notify_all();
    done_.wait(lock, [this] { return unfinished_ == 0; });
  }

 private:
  void work(unsigned number, std::uint64_t seen) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return over_ || round_ != seen; });
      if (over_) return;
      seen = round_;
      if (number >= count_) continue;
      const auto& task = *task_;
      lock.unlock();
      task(number);
      lock.lock();
      if (--unfinished_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_, done_;
  std::vector<std::thread> threads_;
  const std::function<void(unsigned)>* task_ = nullptr;
  unsigned count_ = 0, unfinished_ = 0;
  std::uint64_t round_ = 0;
  bool over_ = false;
};

}  // namespace

void on_cpu_threads(unsigned count, const std::function<void(unsigned)>& task) {
  static Workers workers;
  workers.run(count, task);
}

}  // namespace halfulp::gpu::host
