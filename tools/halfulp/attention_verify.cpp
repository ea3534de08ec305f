#include "attention_verify.hpp"

#include "halfulp/vectors/attention/pack.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;

AttentionRun judged(const AttentionSubject& subject, const AttentionPlan& plan, AttentionRows rows, const VerifyOptions& options) {
  if (subject.implementation.empty()) return verify_attention(plan, std::move(rows), make_plug(subject.plug), options.threads);
  const AttentionKernel kernel = attention_kernel(subject.implementation, static_cast<unsigned>(options.threads));
  AttentionRun run = verify_attention(plan, std::move(rows), kernel, options.threads);
  run.implementation = subject.implementation;
  run.option = "--impl " + shell_quoted(subject.implementation);
  run.version = HALFULP_VERSION;
  return run;
}

}  // namespace

AttentionRun verify_attention_spec(const AttentionSubject& subject, const std::string& spec, const VerifyOptions& options) {
  const AttentionPlan plan = parse_attention_spec(spec);
  AttentionRun run = judged(subject, plan, attention_rows(plan, options.level, options.seed), options);
  run.level = options.level;
  run.seed = options.seed;
  run.subject = spec_text(plan);
  return run;
}

AttentionRun verify_attention_pack(const AttentionSubject& subject, const PackReader& pack, const std::string& path, const VerifyOptions& options) {
  AttentionPack read = read_attention_pack(pack, options.threads);
  AttentionRun run = judged(subject, read.plan, std::move(read.rows), options);
  run.level = pack.manifest().level;
  run.seed = pack.manifest().seed;
  run.subject = path;
  run.of_pack = true;
  return run;
}

std::string attention_diagnosis_text(const AttentionRun& run) {
  const Report report = report_of(run);
  std::string text = report.spec + "  " + report.implementation + ": " + grouped_digits(run.tally.rows) + " rows, " + grouped_digits(run.tally.rows_wrong) + " differ\n";
  for (const KernelFinding& finding : report.findings) text += "  " + std::string(name_of(finding.trouble)) + ": " + finding.text + "\n";
  if (run.passed()) text += run.plan.order_unknown ? "  no claim is violated\n" : "  all answers follow " + report.spec + "\n";
  for (const AttentionProperty& property : run.tally.properties) text += "  property  " + property.text + ": " + (property.holds ? "yes" : "no") + "\n";
  if (!report.first.empty()) text += "  " + report.first + "\n";
  if (!report.diagnosis_title.empty()) text += report.diagnosis_title + "\n";
  for (const CardLine& line : report.diagnosis) text += "  " + std::string(line.label.size() < 5 ? 5 - line.label.size() : 0, ' ') + line.label + "  " + line.text + "\n";
  return text;
}

}  // namespace halfulp::tool
