// The study of ex2.approx and rcp.approx: all 2^32 words on a device, a sample on the host; deviations from the correctly rounded
// value by size and by exponent, and byte by byte for two binades, as files.
#include <cstring>

#include "gpu_check/backend.hpp"
#include "gpu_check/kernels/mufu.cuh"
#include "gpu_check/steps/steps.hpp"
#include "gpu_check/words_file.hpp"

namespace halfulp::gpu {
namespace {

constexpr unsigned kExponentRows = 512;

struct Study {
  const char* name;
  bool reciprocal;
  long long bound;  ///< deviations that the documented error allows: 2^-22 relative for ex2, 2^-23 for rcp, and half a place
};

std::vector<Pair> read_table(const std::string& data) {
  const std::vector<std::uint32_t> words = read_words(data + "/mufu/exp2_table.bin");
  std::vector<Pair> table(words.size() / 4);
  if (words.size() != 4 * (kExp2Table + kExp2Coefficients)) throw std::runtime_error("mufu/exp2_table.bin has a wrong size");
  std::memcpy(static_cast<void*>(table.data()), words.data(), words.size() * 4);
  return table;
}

template <MufuFunction F>
ResultRow study(const StepContext& context, const Study& about, const Buffer<Pair>& table) {
  ResultRow row = row_named(std::string(about.name) + (kOnDevice ? "" : " (a stand-in)"));
  const bool all = kOnDevice && !context.quick;
  const std::uint64_t stride = all ? 1 : kOnDevice ? 61 : 65521;
  const std::uint64_t count = ((std::uint64_t{1} << 32) + stride - 1) / stride;
  const Grid grid = kOnDevice ? Grid{2048, 256} : Grid{2, 32};
  Buffer<unsigned long long> counts("counts", std::vector<unsigned long long>(kMufuCounts, 0));
  Buffer<unsigned long long> exponents("exponents", std::vector<unsigned long long>(2 * kExponentRows, 0));
  const Launched launched = launch("mufu_sweep", mufu_sweep<F>, grid, 0, stride, count, table.in(), counts.out(), exponents.out());
  row.seconds = launched.seconds;
  if (launched.no_image) {
    row.status = Status::skipped;
    row.note = "no kernel image for this device";
    return row;
  }
  row.first = launched.faults;
  const auto found = counts.download();
  row.inputs = found[kMufuInputs];
  bool within = found[kMufuOther] == 0;
  for (long long delta = -static_cast<long long>(kFar); delta <= static_cast<long long>(kFar); ++delta) {
    const auto inputs = found[kMufuDeviation0 + static_cast<std::size_t>(delta + static_cast<long long>(kFar))];
    if (inputs == 0) continue;
    row.counts.emplace_back("deviation_" + std::to_string(delta), inputs);
    within = within && delta <= about.bound && -delta <= about.bound;
  }
  row.counts.emplace_back("close_to_a_tie", found[kMufuClose]);
  row.counts.emplace_back("wrong_kind", found[kMufuOther]);
  row.note = within ? "within the documented bound" : "beyond the documented bound";
  row.status = launched.ok() && row.inputs == count && found[kMufuClose] == 0 && within ? Status::passed : Status::failed;
  if (context.output.empty()) return row;

  std::string name = about.name;
  std::string text = "sign\texponent_field\tdeviating_inputs\tlargest_deviation\n";
  const auto by_exponent = exponents.download();
  for (unsigned i = 0; i < kExponentRows; ++i) {
    if (by_exponent[2 * i] == 0) continue;
    text += std::to_string(i / 256) + "\t" + std::to_string(i % 256) + "\t" + std::to_string(by_exponent[2 * i]) + "\t" + std::to_string(by_exponent[2 * i + 1]) + "\n";
  }
  write_whole_file(context.output + "/" + name + "_by_exponent.tsv", text);
  for (const std::uint32_t first : {0x3f800000u, 0xbf800000u}) {
    const std::uint32_t size = kOnDevice ? 1u << 23 : 1u << 12;
    Buffer<std::int8_t> deltas("deltas", size);
    const Launched window = launch("mufu_window", mufu_window<F>, grid, first, size, table.in(), deltas.out());
    const auto bytes = deltas.download();
    write_whole_file(context.output + "/" + name + "_deviations_" + hex(first) + ".i8", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!window.ok()) row.status = Status::failed;
  }
  return row;
}

}  // namespace

StepReport run_mufu(const StepContext& context) {
  const std::vector<Pair> words = read_table(context.data);
  const Buffer<Pair> table("exp2 table", words);
  StepReport report{"mufu"};
  report.rows.push_back(study<MufuFunction::ex2>(context, {"ex2.approx.f32", false, 4}, table));
  report.rows.push_back(study<MufuFunction::ex2_ftz>(context, {"ex2.approx.ftz.f32", false, 4}, table));
  report.rows.push_back(study<MufuFunction::rcp>(context, {"rcp.approx.f32", true, 2}, table));
  report.rows.push_back(study<MufuFunction::rcp_ftz>(context, {"rcp.approx.ftz.f32", true, 2}, table));
  return report;
}

}  // namespace halfulp::gpu
