// The walk: blocks of source words, cast and compared by several threads, in constant memory.
#include "halfulp/vectors/judge.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace halfulp::vectors {
namespace {

constexpr std::uint64_t kBlock =
    1u << 15;  ///< words: 128 KiB of f32 and the answers stay in the second-level cache

std::uint64_t load(const std::byte* at, int bytes) {
  return with_word_type(bytes, [at](auto word) {
    std::memcpy(&word, at, sizeof word);
    return std::uint64_t{word};
  });
}

/// Fills the source words of a block and knows which run each stretch of them belongs to.
class Block {
 public:
  /// Without `reads_inputs` source words of a sweep are not made, but taken from their stretch where one is looked at.
  Block(const Expected& expected, const Kernel& kernel, AnswersSeen* seen, bool reads_inputs)
      : expected_(expected),
        kernel_(kernel),
        seen_(seen),
        fills_(reads_inputs),
        from_(*expected.plan().from),
        from_bytes_(static_cast<std::size_t>(from_.storage_bytes())),
        to_bytes_(static_cast<std::size_t>(expected.plan().to.storage_bytes())),
        in_(kBlock * from_bytes_),
        out_(kBlock * to_bytes_) {}

  /// All words with bits first..last; those that the policy refuses are counted and left out.
  void sweep(std::uint64_t first, std::uint64_t last, Tally& tally) {
    const auto& runs = expected_.runs();
    auto run = std::upper_bound(runs.begin(), runs.end(), first,
                                [](std::uint64_t bits, const Run& r) { return bits < r.first; }) -
               1;
    count_ = 0;
    stretches_.clear();
    for (; run != runs.end() && run->first <= last; ++run) {
      const std::uint64_t begin = std::max(first, run->first);
      const std::uint64_t end = std::min(last, run->last) + 1;
      if (run->result.refusal != Refusal::none) {
        tally.refused += end - begin;
        continue;
      }
      if (fills_) fill(begin, end);
      stretches_.push_back({&*run, begin, count_, count_ + static_cast<std::size_t>(end - begin)});
      count_ = stretches_.back().end;
    }
    if (count_ == 0) return;
    const std::size_t answered = call();
    std::size_t i = 0;
    for (const Stretch& stretch : stretches_) {
      const std::size_t end = std::min(stretch.end, answered);
      if (i < end) compare(stretch, i, end, tally);
      i = stretch.end;
    }
    if (seen_ && fills_)
      see(answered);
    else if (seen_)
      seen_->add([this](std::size_t row) { return word_in_stretches(row); }, std::span(out_).first(answered * to_bytes_));
    finish(answered, tally);
  }

  /// A list of words, in ascending order where the expected answers are tabulated.
  void list(std::span<const std::uint64_t> words, Tally& tally) {
    count_ = words.size();
    with_word_type(from_.storage_bytes(), [&](auto type) {
      for (std::size_t i = 0; i < count_; ++i) {
        const auto word = static_cast<decltype(type)>(words[i]);
        std::memcpy(in_.data() + i * sizeof word, &word, sizeof word);
      }
    });
    const std::size_t answered = call();
    for (std::size_t i = 0; i < answered; ++i) {
      const Run run = expected_.at(words[i]);
      const std::uint64_t got = load(out_.data() + i * to_bytes_, static_cast<int>(to_bytes_));
      if (!expected_.accepts(run, got)) tally.add_mismatch(expected_, run, words[i], got);
    }
    if (seen_) see(answered);
    finish(answered, tally);
  }

 private:
  /// Words of one run.
  struct Stretch {
    const Run* run;
    std::uint64_t bits;      ///< of the first
    std::size_t begin, end;  ///< places in the block
    std::uint64_t word(std::size_t place, int shift) const { return (bits + (place - begin)) << shift; }
  };

  std::uint64_t word_in_stretches(std::size_t place) const {
    const auto stretch = std::upper_bound(stretches_.begin(), stretches_.end(), place,
                                          [](std::size_t at, const Stretch& s) { return at < s.end; });
    return stretch->word(place, from_.storage_shift);
  }

  void see(std::size_t answered) {
    seen_->add(std::span(in_).first(answered * from_bytes_), std::span(out_).first(answered * to_bytes_));
  }

  void fill(std::uint64_t begin, std::uint64_t end) {
    with_word_type(from_.storage_bytes(), [&](auto type) {
      using Word = decltype(type);
      // Locals of the word's own size, so that the loop is vectorised.
      auto* at = reinterpret_cast<Word*>(in_.data()) + count_;
      const int shift = from_.storage_shift;
      const auto size = static_cast<std::uint32_t>(end - begin);
      Word word = static_cast<Word>(begin);
      for (std::uint32_t i = 0; i < size; ++i, ++word) at[i] = static_cast<Word>(word << shift);
    });
  }

  /// Runs the kernel; the number of words that it answered.
  std::size_t call() {
    failure_ = nullptr;
    try {
      kernel_(std::span(in_).first(count_ * from_bytes_), std::span(out_).first(count_ * to_bytes_));
    } catch (const KernelFailure& failure) {
      failure_ = std::current_exception();
      return static_cast<std::size_t>(std::min<std::uint64_t>(count_, failure.answered));
    }
    return count_;
  }

  /// After the answers are judged: a failure goes on from here.
  void finish(std::size_t answered, Tally& tally) {
    tally.checked += answered;
    if (failure_) std::rethrow_exception(failure_);
  }

  void compare(const Stretch& stretch, std::size_t begin, std::size_t end, Tally& tally) {
    const Run& run = *stretch.run;
    // All are the code when the first is, and each is as the one before: memcmp() is as fast as memory.
    const std::byte* const at = out_.data() + begin * to_bytes_;
    const bool differs = load(at, static_cast<int>(to_bytes_)) != run.result.code ||
                         std::memcmp(at, at + to_bytes_, (end - begin - 1) * to_bytes_) != 0;
    if (!differs) return;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t got = load(out_.data() + i * to_bytes_, static_cast<int>(to_bytes_));
      if (got == run.result.code || expected_.accepts(run, got)) continue;
      tally.add_mismatch(expected_, run, stretch.word(i, from_.storage_shift), got);
    }
  }

  const Expected& expected_;
  const Kernel& kernel_;
  AnswersSeen* seen_;
  bool fills_;
  const FormatSpec& from_;
  std::size_t from_bytes_;
  std::size_t to_bytes_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  std::size_t count_ = 0;
  std::vector<Stretch> stretches_;
  std::exception_ptr failure_;
};

/// Runs work(block index, Block, Tally) for every index below `blocks`: on several threads, in order on
/// one.
template <class Work>
void run_blocks(std::uint64_t blocks, int threads, const Expected& expected, const Kernel& kernel,
                AnswersSeen* seen, bool reads_inputs, const std::function<void(std::uint64_t)>& block_done,
                Judged& judged, Work work) {
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto worker = [&] {
    Tally tally;
    try {
      Block block(expected, kernel, seen, reads_inputs);
      for (std::uint64_t index; (index = next.fetch_add(1)) < blocks;) {
        work(index, block, tally);
        if (block_done && index % 64 == 0) {
          const std::lock_guard lock(mutex);
          block_done(index);
        }
      }
    } catch (const KernelFailure& e) {
      next = blocks;
      const std::lock_guard lock(mutex);
      if (judged.findings.empty()) judged.findings.push_back({e.trouble, e.what()});
    } catch (...) {
      next = blocks;
      const std::lock_guard lock(mutex);
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    judged.tally.merge(tally);
  };
  const int wanted =
      threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto count = static_cast<int>(std::min<std::uint64_t>(blocks, static_cast<std::uint64_t>(wanted)));
  std::vector<std::jthread> team;
  for (int i = 1; i < count; ++i) team.emplace_back(worker);
  worker();
  team.clear();  // joins
  if (error) std::rethrow_exception(error);
}

}  // namespace

void require_exhaustible(const Expected& expected) {
  if (expected.plan().from->width > 32) {
    throw InputError("level exhaustive", expected.plan().from_name + " has too many codes",
                     "use --level stratified");
  }
  if (!expected.tabulated()) {
    throw InputError("level exhaustive", expected.plan().to_name + " has too many steps to tabulate",
                     "use --level stratified");
  }
}

Judged judge(const Expected& expected, const Kernel& kernel, const VerifyOptions& options,
             AnswersSeen* seen, bool reads_inputs) {
  Judged judged;
  std::function<void(std::uint64_t)> block_done;
  const auto report = [&](std::uint64_t total) {
    if (options.progress) {
      block_done = [&options, total](std::uint64_t index) {
        options.progress(std::min(total, (index + 1) * kBlock), total);
      };
    }
  };
  const int threads = seen ? 1 : options.threads;
  if (options.level == Level::exhaustive) {
    require_exhaustible(expected);
    const std::uint64_t total = low_mask(expected.plan().from->width) + 1;
    report(total);
    judged.completeness = Completeness::exhaustive;
    run_blocks((total + kBlock - 1) / kBlock, threads, expected, kernel, seen, reads_inputs, block_done,
               judged, [&](std::uint64_t index, Block& block, Tally& tally) {
                 block.sweep(index * kBlock, std::min(total, (index + 1) * kBlock) - 1, tally);
               });
  } else {
    const auto [words, refused] = level_words(expected, options.level, options.seed);
    report(words.size());
    judged.completeness = completeness(expected, options.level, words.size());
    const std::span<const std::uint64_t> all(words);
    run_blocks((words.size() + kBlock - 1) / kBlock, threads, expected, kernel, seen, reads_inputs, block_done,
               judged, [&](std::uint64_t index, Block& block, Tally& part) {
                 const std::size_t begin = index * kBlock;
                 block.list(all.subspan(begin, std::min<std::size_t>(kBlock, all.size() - begin)), part);
               });
    judged.tally.refused = refused;
  }
  if (!judged.finished()) judged.completeness = Completeness::sampled;
  return judged;
}

}  // namespace halfulp::vectors
