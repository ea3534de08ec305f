#include "gpu_check/libraries/problem.hpp"

#include <bit>
#include <sstream>
#include <stdexcept>

#include "gpu_check/report.hpp"
#include "gpu_check/words_file.hpp"

namespace halfulp::gpu {
namespace {

constexpr const char* kHeader = "halfulp-gemm-1";
constexpr std::size_t kFirst = 16, kMostProblems = 100;

std::string base_of(const std::string& data, std::size_t number) { return data + "/libraries/gemm_" + std::to_string(number); }
std::string index_of(const std::string& data) { return data + "/libraries/problems.txt"; }

float float_of(std::uint32_t word) { return std::bit_cast<float>(word); }

}  // namespace

void write_gemm_problems(const std::string& data, const std::vector<GemmProblem>& problems) {
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const GemmProblem& problem = problems[i];
    std::ostringstream text;
    text << kHeader << "\n" << problem.name << "\n" << problem.m << " " << problem.n << " " << problem.k << " " << std::bit_cast<std::uint32_t>(problem.scale_a)
         << " " << std::bit_cast<std::uint32_t>(problem.scale_b) << "\n";
    for (const std::string& model : problem.models) text << model << "\n";
    std::vector<std::uint32_t> words;
    const auto put = [&words](const std::vector<std::uint32_t>& part) { words.insert(words.end(), part.begin(), part.end()); };
    put(problem.a), put(problem.b), put(problem.lower), put(problem.upper);
    for (const auto& model_words : problem.words) put(model_words);
    write_words(base_of(data, i) + ".bin", words);
    write_prepared(base_of(data, i) + ".txt", text.str());
  }
  write_prepared(index_of(data), std::to_string(problems.size()) + "\n");
}

std::size_t count_gemm_problems(const std::string& data) {
  std::istringstream index(read_prepared(index_of(data)));
  std::size_t count = 0;
  if (!(index >> count) || count == 0 || count > kMostProblems) {
    throw std::runtime_error(index_of(data) + " does not count from 1 to " + std::to_string(kMostProblems) + " problems; make the data again with gpu_check_prepare");
  }
  return count;
}

GemmProblem read_gemm_problem(const std::string& data, std::size_t number) {
  const std::string base = base_of(data, number);
  std::istringstream text(read_prepared(base + ".txt"));
  GemmProblem problem;
  std::string header, model;
  std::getline(text, header);
  std::getline(text, problem.name);
  std::uint32_t scale_a = 0, scale_b = 0;
  text >> problem.m >> problem.n >> problem.k >> scale_a >> scale_b >> std::ws;
  problem.scale_a = float_of(scale_a), problem.scale_b = float_of(scale_b);
  if (!text || header != kHeader || problem.outputs() == 0 || problem.k == 0 || problem.k % 4 != 0) throw std::runtime_error(base + ".txt is no matrix product");
  while (std::getline(text, model)) problem.models.push_back(model);
  const std::vector<std::uint32_t> words = read_words(base + ".bin");
  problem.words.resize(problem.models.size());
  std::size_t at = 0;
  const auto take = [&](std::vector<std::uint32_t>& into, std::size_t count) {
    if (words.size() - at < count) throw std::runtime_error(base + ".bin does not fit its description");
    into.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += count;
  };
  take(problem.a, std::size_t{problem.m} * problem.k / 4);
  take(problem.b, std::size_t{problem.n} * problem.k / 4);
  take(problem.lower, problem.outputs());
  take(problem.upper, problem.outputs());
  for (auto& model_words : problem.words) take(model_words, problem.outputs());
  if (at != words.size()) throw std::runtime_error(base + ".bin does not fit its description");
  return problem;
}

GemmVerdict judge_gemm(const GemmProblem& problem, const std::vector<std::uint32_t>& got) {
  GemmVerdict verdict;
  if (got.size() != problem.outputs()) throw std::invalid_argument("a result of another size");
  for (const auto& words : problem.words) {
    verdict.equal.push_back(0);
    for (std::size_t i = 0; i < got.size(); ++i) verdict.equal.back() += words[i] == got[i] ? 1 : 0;
    if (verdict.equal.back() == got.size()) verdict.models.push_back(problem.models[verdict.equal.size() - 1]);
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float value = float_of(got[i]);
    if (value >= float_of(problem.lower[i]) && value <= float_of(problem.upper[i])) continue;
    ++verdict.outside;
    if (verdict.first.size() >= kFirst) continue;
    verdict.first.push_back("D[" + std::to_string(i / problem.n) + "][" + std::to_string(i % problem.n) + "]: got " + hex(got[i], 8) + ", not from " +
                            hex(problem.lower[i], 8) + " to " + hex(problem.upper[i], 8));
  }
  return verdict;
}

}  // namespace halfulp::gpu
