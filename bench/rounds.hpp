// How a ratio is measured: kernels take turns in one process, each turn timed in CPU time of the thread, and the result is
// the median over the rounds of each round's quotient. Absolute figures drift with the machine; quotients do not.
#pragma once

#include <time.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace halfulp::bench {

inline constexpr int kRounds = 11;

inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A kernel and how many elements one call of it handles.
struct Kernel {
  std::function<void()> call;
  double elements = 0;
};

struct Comparison {
  double ratio = 0;              ///< speed of the subject in units of the reference's: median of quotients
  double seconds = 0;            ///< median time of one call of the subject
  double elements_per_second = 0;
  double reference_per_second = 0;
};

/// Speed of `subject` relative to `reference`, per element. One call of each warms up and is not counted.
inline Comparison compare(const Kernel& subject, const Kernel& reference) {
  std::vector<double> quotients, subject_times, reference_times;
  for (int round = -1; round < kRounds; ++round) {
    const double start = thread_seconds();
    reference.call();
    const double between = thread_seconds();
    subject.call();
    const double end = thread_seconds();
    if (round < 0) continue;
    reference_times.push_back(between - start);
    subject_times.push_back(end - between);
    quotients.push_back((between - start) / reference.elements * subject.elements / (end - between));
  }
  const double seconds = median(subject_times);
  return {median(quotients), seconds, subject.elements / seconds, reference.elements / median(reference_times)};
}

}  // namespace halfulp::bench
