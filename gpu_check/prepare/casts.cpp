#include <filesystem>
#include <set>
#include <stdexcept>

#include "gpu_check/prepare/prepare.hpp"
#include "gpu_check/words_file.hpp"
#include "halfulp/oracle/thresholds.hpp"

namespace halfulp::gpu {
namespace {

std::uint32_t oracle_code(const FormatSpec& from, std::uint64_t word, const FormatSpec& to, const CastPolicy& policy, std::uint32_t random) {
  const CastResult result = oracle::cast(from, word, to, policy, random);
  if (result.refusal != Refusal::none) throw std::runtime_error("a refused input has no place in a threshold table");
  return static_cast<std::uint32_t>(result.code);
}

std::vector<TableStep> steps_of(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy, std::uint32_t random) {
  const Domain domain = domain_of(from);
  const oracle::ThresholdTable table(from, to, policy, random);
  if (table.order().size() != domain.negatives + domain.positives) throw std::runtime_error("domain and oracle count different source codes");
  std::vector<TableStep> steps;
  for (std::size_t i = 0; i < table.intervals().size(); ++i) {
    const oracle::Interval& interval = table.intervals()[i];
    if (interval.refusal != Refusal::none) throw std::runtime_error("a refused input has no place in a threshold table");
    if (domain.word(table.start(i)) != interval.first) throw std::runtime_error("domain and oracle order source codes differently");
    steps.push_back({table.start(i), static_cast<std::uint32_t>(interval.code), 0});
  }
  // NaNs: one code for each sign.
  std::uint64_t position = domain.negatives + domain.positives;
  for (const std::uint64_t count : {domain.positive_nans, domain.negative_nans}) {
    if (count == 0) continue;
    const std::uint32_t code = oracle_code(from, domain.word(position), to, policy, random);
    for (const std::uint64_t other : {count / 2, count - 1}) {
      if (oracle_code(from, domain.word(position + other), to, policy, random) != code) throw std::runtime_error("NaNs of one sign have several codes");
    }
    steps.push_back({position, code, 0});
    position += count;
  }
  return steps;
}

/// Positions at which two step functions differ.
std::uint64_t differing(const std::vector<TableStep>& a, const std::vector<TableStep>& b, std::uint64_t size) {
  std::uint64_t count = 0;
  std::size_t i = 0, j = 0;
  for (std::uint64_t position = 0; position < size;) {
    const std::uint64_t end_a = i + 1 < a.size() ? a[i + 1].first : size, end_b = j + 1 < b.size() ? b[j + 1].first : size;
    const std::uint64_t end = std::min(end_a, end_b);
    if (a[i].code != b[j].code) count += end - position;
    if (end == end_a) ++i;
    if (end == end_b) ++j;
    position = end;
  }
  return count;
}

}  // namespace

CastTable make_cast_table(const CastCase& cast, std::uint32_t lane_random) {
  const FormatSpec from = format_spec(cast.from), to = format_spec(cast.to);
  const CastPolicy policy = policy_of(cast);
  CastTable table{steps_of(from, to, policy, lane_random)};
  if (policy.rounding == Rounding::ties_to_even) {
    CastPolicy away = policy;
    away.rounding = Rounding::ties_to_away;
    table.away_mismatches = differing(table.steps, steps_of(from, to, away, 0), domain_of(from).size());
  }
  return table;
}

void prepare_casts(const std::string& data) {
  std::filesystem::create_directories(data + "/casts");
  std::set<std::string> written;  // cases share tables
  for (const CastCase& cast : kCastCases) {
    for (std::uint32_t i = 0; i < random_words(cast); ++i) {
      for (int lane = 0; lane < cast.lanes; ++lane) {
        const std::uint32_t random = cast.random_bits == 0 ? 0 : random_of_lane(cast, kRandomWords[i], lane);
        const std::string path = data + "/casts/" + table_name(cast, random) + ".txt";
        if (written.insert(path).second) write_prepared(path, text_of(make_cast_table(cast, random)));
      }
    }
  }
}

}  // namespace halfulp::gpu
