#include "gpu_check/cast_table.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "gpu_check/digest.hpp"
#include "gpu_check/words_file.hpp"

namespace halfulp::gpu {
namespace {
constexpr const char* kHeader = "halfulp-cast-table-1";
constexpr std::size_t kMostSteps = 1 << 20;
}

std::string text_of(const CastTable& table) {
  std::ostringstream text;
  text << kHeader << " " << table.steps.size() << " " << table.away_mismatches << "\n";
  for (const TableStep& step : table.steps) text << step.first << " " << step.code << "\n";
  return text.str();
}

CastTable read_cast_table(const std::string& data, const std::string& name, std::uint64_t sources) {
  const std::string path = data + "/casts/" + name + ".txt";
  std::istringstream in(read_prepared(path));
  std::string header;
  std::size_t count = 0;
  CastTable table;
  const auto refuse = [&path](const char* why) { throw std::runtime_error("the table " + path + " " + why + "; make the data again with gpu_check_prepare"); };
  if (!(in >> header >> count >> table.away_mismatches) || header != kHeader || count == 0 || count > kMostSteps) refuse("has no header");
  table.steps.resize(count);
  for (TableStep& step : table.steps) in >> step.first >> step.code;
  if (!in || table.steps[0].first != 0) refuse("is cut off");
  const auto rises = [](const TableStep& a, const TableStep& b) { return a.first >= b.first; };
  if (std::adjacent_find(table.steps.begin(), table.steps.end(), rises) != table.steps.end()) refuse("does not rise from step to step");
  if (table.steps.back().first >= sources) refuse("goes on behind the last source code");
  return table;
}

std::uint64_t digest_of_run(const CastTable& table, const Domain& domain, std::uint64_t begin, std::uint64_t length, unsigned lane) {
  const std::uint64_t end = std::min(begin + length, domain.size());
  const auto after = std::upper_bound(table.steps.begin(), table.steps.end(), begin, [](std::uint64_t p, const TableStep& s) { return p < s.first; });
  std::uint64_t digest = 0;
  for (auto step = after - 1; begin < end; ++step) {
    const std::uint64_t step_end = step + 1 == table.steps.end() ? domain.size() : (step + 1)->first;
    while (begin < std::min(step_end, end)) {
      const std::uint64_t stop = std::min({step_end, end, domain.stretch_end(begin)});
      const std::uint64_t lowest = std::min(domain.word(begin), domain.word(stop - 1));
      digest += digest_weight(step->code, lane) * digest_inputs(lowest, stop - begin);
      begin = stop;
    }
  }
  return digest;
}

}  // namespace halfulp::gpu
