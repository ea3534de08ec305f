// Quantized attention: every stage of every case against the reference kernel's, with several grids (--quick: with one).
#include <set>

#include "gpu_check/attention/run.hpp"
#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {
namespace {

bool has_instructions(const AttentionCase& each, int architecture) {
  return each.architecture == 0 || each.architecture == architecture || (each.architecture == 120 && architecture == 121);
}

}  // namespace

StepReport run_attention(const StepContext& context) {
  StepReport report{"attention"};
  for (const AttentionCase& each : kAttentionCases) {
    ResultRow row = row_named(std::string(each.name));
    if (!has_instructions(each, context.device.architecture)) {
      row.status = Status::skipped;
      row.note = "its models are those of sm_" + std::to_string(each.architecture);
      report.rows.push_back(row);
      continue;
    }
    run_case(report, std::string(each.name), [&] {
      const AttentionFile file = read_attention_file(attention_path(context.data, each.name), &each);
      const unsigned items = std::max(1u, file.plan.items());
      for (const unsigned blocks : context.quick ? std::set<unsigned>{items} : std::set<unsigned>{1, items, items + 3}) {
        const AttentionOutcome outcome = run_attention_case(each.kernel, file, blocks);
        row.seconds += outcome.seconds;
        row.inputs += outcome.words;
        row.mismatches += outcome.mismatches;
        const std::string grid = std::to_string(blocks) + " blocks: ";
        for (const auto* texts : {&outcome.faults, &outcome.first}) {
          for (const std::string& text : *texts) {
            if (row.first.size() < 16) row.first.push_back(grid + text);
          }
        }
        if (outcome.no_image) row.note = "no kernel image for this device";
      }
      row.status = !row.note.empty() ? Status::skipped : row.first.empty() && row.mismatches == 0 && row.inputs != 0 ? Status::passed : Status::failed;
      report.rows.push_back(row);
    });
  }
  return report;
}

}  // namespace halfulp::gpu
