// A goal is a Google Benchmark with three counters: `measured`, `goal` and `per_second`; `measured` is in the unit that its
// label names. bench/run reads them.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "rounds.hpp"

namespace halfulp::bench {

/// Thrown by a goal that cannot be measured here.
struct Skip {
  std::string why;
};

inline void report(benchmark::State& state, const Comparison& c, double goal, const std::string& unit) {
  state.counters["measured"] = c.ratio;
  state.counters["goal"] = goal;
  state.counters["per_second"] = c.elements_per_second;
  state.counters["reference_per_second"] = c.reference_per_second;
  state.SetLabel(unit);
  state.SetIterationTime(c.seconds);
}

/// Registers a goal; `measure` checks correctness first and throws Skip or returns the comparison.
inline void add_goal(const std::string& name, double goal, const std::string& unit, std::function<Comparison()> measure) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 for (auto _ : state) {
                                   try {
                                     report(state, measure(), goal, unit);
                                   } catch (const Skip& skip) {
                                     state.SkipWithError(skip.why.c_str());
                                     break;
                                   }
                                 }
                               })
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void add_cast_goals();
void add_peer_goals();

/// Registers the goals of a program; each program has its own, main.cpp calls it. `quick`: smaller inputs.
void add_goals(bool quick);

}  // namespace halfulp::bench
