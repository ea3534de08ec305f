#include "attention_verify.hpp"

#include <chrono>
#include <cstdio>

#include "halfulp/vectors/attention/pack.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;

/// One rewritten line: what is done, and how far it is.
class Line {
 public:
  explicit Line(bool shows) : shows_(shows) {}
  ~Line() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  void operator()(const char* what, std::size_t done, std::size_t total) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (!shows_ || passed.count() < 1) return;
    shown_ = true;
    std::fprintf(stderr, "\r%s: %zu of %zu, %.0f s so far\033[K", what, done, total, passed.count());
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shows_, shown_ = false;
};

AttentionRun judged(const AttentionSubject& subject, const AttentionPlan& plan, AttentionRows rows,
                    const VerifyOptions& options) {
  Line line(static_cast<bool>(options.progress));
  const AttentionProgress progress = [&line](const char* what, std::size_t done, std::size_t total) {
    line(what, done, total);
  };
  if (subject.implementation.empty())
    return verify_attention(plan, std::move(rows), make_plug(subject.plug), options.threads, progress);
  const AttentionKernel kernel =
      attention_kernel(subject.implementation, static_cast<unsigned>(options.threads));
  AttentionRun run = verify_attention(plan, std::move(rows), kernel, options.threads, progress);
  run.implementation = subject.implementation;
  run.option = "--impl " + shell_quoted(subject.implementation);
  run.version = HALFULP_VERSION;
  return run;
}

}  // namespace

AttentionRun verify_attention_spec(const AttentionSubject& subject, const std::string& spec,
                                   const VerifyOptions& options) {
  const AttentionPlan plan = parse_attention_spec(spec);
  AttentionRun run = judged(subject, plan, attention_rows(plan, options.level, options.seed), options);
  run.level = options.level;
  run.seed = options.seed;
  run.subject = spec_text(plan);
  return run;
}

AttentionRun verify_attention_pack(const AttentionSubject& subject, const PackReader& pack,
                                   const std::string& path, const VerifyOptions& options) {
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
  std::string text = report.spec + "  " + report.implementation + ": " + grouped_digits(run.tally.rows) +
                     " rows, " + grouped_digits(run.tally.rows_wrong) + " differ\n";
  for (const KernelFinding& finding : report.findings)
    text += "  " + std::string(name_of(finding.trouble)) + ": " + finding.text + "\n";
  if (run.passed())
    text +=
        run.plan.order_unknown ? "  no claim is violated\n" : "  all answers follow " + report.spec + "\n";
  for (const AttentionProperty& property : run.tally.properties)
    text += "  property  " + property.text + ": " + (property.holds ? "yes" : "no") + "\n";
  if (!report.first.empty()) text += "  " + report.first + (run.plan.order_unknown ? ": " + run.tally.claims.first : "") + "\n";
  if (!report.diagnosis_title.empty()) text += report.diagnosis_title + "\n";
  for (const CardLine& line : report.diagnosis)
    text += "  " + std::string(line.label.size() < 5 ? 5 - line.label.size() : 0, ' ') + line.label + "  " +
            line.text + "\n";
  return text;
}

}  // namespace halfulp::tool
