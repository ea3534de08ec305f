// The table of exp2_exact.hpp, from 60-digit arithmetic.
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <bit>
#include <filesystem>

#include "gpu_check/prepare/prepare.hpp"
#include "gpu_check/words_file.hpp"

namespace halfulp::gpu {
namespace {

using Big = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<200>, boost::multiprecision::et_off>;

void append(std::vector<std::uint32_t>& words, double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  words.push_back(static_cast<std::uint32_t>(bits));
  words.push_back(static_cast<std::uint32_t>(bits >> 32));
}

}  // namespace

std::vector<std::uint32_t> exp2_table_words() {
  std::vector<std::uint32_t> words;
  const Big two = 2;
  for (int i = -16; i <= 16; ++i) {
    const Big power = pow(two, Big(i) / 32);
    const auto high = static_cast<double>(power);
    append(words, high);
    append(words, static_cast<double>(power - high));
  }
  Big coefficient = 1;
  for (int k = 1; k <= 9; ++k) {
    coefficient *= log(two) / k;
    const auto high = static_cast<double>(coefficient);
    append(words, high);
    append(words, k <= 4 ? static_cast<double>(coefficient - high) : 0.0);
  }
  return words;
}

void prepare_mufu(const std::string& data) {
  std::filesystem::create_directories(data + "/mufu");
  write_words(data + "/mufu/exp2_table.bin", exp2_table_words());
}

}  // namespace halfulp::gpu
