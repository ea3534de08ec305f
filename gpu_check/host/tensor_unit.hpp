// What runs by itself in the tensor memory of one block: copies and products that a thread issued and that are done only when a later commit
// of that thread has arrived at an mbarrier and the block has waited there. Also who has the memory, and until when.
#pragma once

#include <vector>

#include "gpu_check/host/scheduler.hpp"

namespace halfulp::gpu::host {

class Memory;

inline constexpr std::uint32_t kTensorLanes = 128, kTensorWidth = 32, kFirstColumn = 64;  ///< an allocation need not begin at 0

/// Who reaches for a word: an instruction that a thread waits for, or the operation that it issued last.
enum class Reach : std::uint8_t { thread, operation };

/// A word is lane * kTensorWidth + column from the first on; what lies outside is another check's affair. All calls are for the running fiber.
class TensorUnit {
 public:
  void have() { had_ = true; }
  /// Reports a use that is not over: an operation in flight, or a thread of another warp that no barrier orders before.
  void give_back(const Where& where);
  /// A thread's own load or store begins. False after a report when the memory was given back.
  bool use(const char* what, const Where& where);
  /// An operation begins. The same.
  bool issue(const char* name, const Where& where);
  /// False after a report when an operation in flight writes the word. Operations of one thread follow each other.
  bool check(std::size_t word, const char* what, Reach reach, const Where& where) const;
  /// The operation issued last writes the word.
  void writes(std::size_t word);
  /// The mbarrier's arrival stands for what the thread issued so far.
  void commit(const Memory& barrier);
  /// The whole block has met the arrivals.
  void arrive(const Memory& barrier);
  /// Reports memory that was not given back, when the block has ended.
  void end(Faults& faults) const;

 private:
  struct Operation {
    const char* name;
    Access by;
    Where where;
    bool done = false;
  };
  struct Commit {
    const Memory* barrier;
    unsigned thread;
    std::size_t operations;  ///< issued before it, by any thread
  };
  struct Use {
    Access by;
    const char* what;
    Where where;
  };
  std::string in_flight(std::size_t operation) const;
  bool is_had(const char* what, const Where& where) const;

  bool had_ = false;
  Use given_back_{};
  std::vector<Operation> operations_;
  std::vector<Commit> commits_;
  std::vector<std::size_t> writers_ = std::vector<std::size_t>(kTensorLanes * kTensorWidth);  ///< 1 + the operation; 0: none
  std::vector<Use> uses_;                                                                     ///< the last of each thread that had any
};

/// Of the running block.
TensorUnit& tensor_unit();

}  // namespace halfulp::gpu::host
