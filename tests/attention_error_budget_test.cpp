// Error budgets: shares add up, exact stages have no error, and the stage that is worse has the larger one.
#include <gtest/gtest.h>

#include "attention_enclosure_terms.hpp"
#include "halfulp/attention/error_budget.hpp"
#include "halfulp/error.hpp"

namespace {

using namespace attention_enclosure;  // NOLINT: one test program
using halfulp::attention::BudgetStage, halfulp::attention::error_budget, halfulp::attention::kBudgetStages, halfulp::attention::Originals;

const halfulp::attention::StageError& of(const halfulp::attention::ErrorBudget& budget, BudgetStage stage) {
  return budget.stages[static_cast<std::size_t>(stage)];
}

struct Measured {
  OwnedProblem problem;
  std::vector<float> q, k, v;
  Originals originals() const { return {q, k, v, {}, {}, 0}; }
};

/// Random float32 tensors, quantized with scale 1; a channel of K may be larger.
Measured measured(Random& random, const KernelSpec& spec, const Shape& shape, double outlier) {
  Measured m;
  m.problem.shape = shape;
  const auto fill = [&](std::vector<float>& x, std::vector<std::uint32_t>& codes, std::size_t n, const std::string& format, std::size_t dim,
                        double factor) {
    const auto f = halfulp::find_format(format)->spec;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(static_cast<float>(random.normal() * (i % dim == 0 ? factor : 1)));
      codes.push_back(code_of(f, static_cast<double>(x.back())));
    }
  };
  fill(m.q, m.problem.q, shape.query_heads * shape.queries * shape.head_dim, spec.q_format, shape.head_dim, 1);
  fill(m.k, m.problem.k, shape.kv_heads * shape.keys * shape.head_dim, spec.k_format, shape.head_dim, outlier);
  fill(m.v, m.problem.v, shape.kv_heads * shape.keys * shape.value_dim, spec.v_format, shape.value_dim, 1);
  return m;
}

TEST(AttentionErrorBudget, SharesAddUpAndExactStagesHaveNoError) {
  Random random(7);
  for (const char* text : {"reference", "fa3_like", "flashinfer_like", "reference,tile=3,split=6,order=descending,out=bf16,sum_of=quantized"}) {
    const KernelSpec spec = halfulp::attention::parse_spec(text);
    Measured m = measured(random, spec, {2, 1, 3, 20, 8, 3}, 1);
    if (spec.prescale) m.problem.v_scale = {1 / *spec.prescale};
    const auto budget = error_budget(spec, m.problem.view(), m.originals());
    double shares = 0;
    for (const auto& stage : budget.stages) shares += stage.share;
    EXPECT_NEAR(shares, 1, 1e-9) << text;
    EXPECT_EQ(budget.compared, 18u);
    EXPECT_GT(of(budget, BudgetStage::q).rms, 0.0);
    EXPECT_GT(of(budget, BudgetStage::v).rms, 0.0);
    EXPECT_GT(of(budget, BudgetStage::p).rms, 0.0);
    EXPECT_LT(budget.total.sqnr_db, 60);
    // Originals that are codes: quantization makes no error at all.
    const auto value = [](const std::string& format, std::uint32_t code) {
      const halfulp::Unpacked x = halfulp::unpack(halfulp::find_format(format)->spec, code);
      const double v = std::ldexp(static_cast<double>(x.significand), x.exponent);
      return static_cast<float>(x.negative ? -v : v);
    };
    for (std::size_t i = 0; i < m.q.size(); ++i) m.q[i] = value(spec.q_format, m.problem.q[i]);
    for (std::size_t i = 0; i < m.k.size(); ++i) m.k[i] = value(spec.k_format, m.problem.k[i]);
    for (std::size_t i = 0; i < m.v.size(); ++i) m.v[i] = value(spec.v_format, m.problem.v[i]);
    const auto exact = error_budget(spec, m.problem.view(), m.originals());
    for (const BudgetStage stage : {BudgetStage::q, BudgetStage::k, BudgetStage::v})
      EXPECT_LT(of(exact, stage).largest, 1e-6) << text << " " << name_of(stage);
    EXPECT_EQ(of(exact, BudgetStage::q).largest, 0.0);
  }
}

/// The witness of docs/attention.md: without prescale, 2^-10 ties to zero in the numerator and stays in l. O is 1/2: all of it is P.
TEST(AttentionErrorBudget, NoPrescaleIsAnErrorOfP) {
  const KernelSpec spec = halfulp::attention::parse_spec("no_prescale");
  Measured m;
  m.problem.shape = {1, 1, 1, 1025, 1, 1};
  m.q = {1}, m.problem.q = {e4m3(1)};
  m.k.assign(1025, -10), m.problem.k.assign(1025, e4m3(-10));
  m.k[0] = 0, m.problem.k[0] = 0;
  m.v.assign(1025, 1), m.problem.v.assign(1025, e4m3(1));
  const auto budget = error_budget(spec, m.problem.view(), m.originals());
  EXPECT_EQ(of(budget, BudgetStage::p).largest, 0.5);
  EXPECT_EQ(of(budget, BudgetStage::p).share, 1.0);
  EXPECT_EQ(budget.total.largest, 0.5);
  EXPECT_NE(to_string(budget).find("share 100.00 %"), std::string::npos);
}

TEST(AttentionErrorBudget, TheStageThatIsWorseHasTheLargerError) {
  Random a(9), b(9), c(9);
  const Shape shape = {1, 1, 4, 200, 64, 8};
  const auto budget_of = [&](Random& random, const char* text, double outlier) {
    const KernelSpec spec = halfulp::attention::parse_spec(text);
    Measured m = measured(random, spec, shape, outlier);
    m.problem.logit_scale = {0.18033688f};  // log2 e / 8
    auto originals = m.originals();
    originals.logit_scale = m.problem.logit_scale;
    return error_budget(spec, m.problem.view(), originals);
  };
  const auto hopper = budget_of(a, "reference", 1), blackwell = budget_of(b, "fa4_like,tile=64", 1), outlier = budget_of(c, "reference", 30);
  EXPECT_GT(of(hopper, BudgetStage::sums).rms, 20 * of(blackwell, BudgetStage::sums).rms);
  EXPECT_GT(of(hopper, BudgetStage::scores).rms, 20 * of(blackwell, BudgetStage::scores).rms);
  EXPECT_EQ(of(hopper, BudgetStage::q).rms, of(blackwell, BudgetStage::q).rms);
  EXPECT_GT(of(outlier, BudgetStage::k).rms, 3 * of(hopper, BudgetStage::k).rms);
  std::printf("%s\n", to_string(hopper).c_str());
}

TEST(AttentionErrorBudget, OriginalsOfAnotherSizeAreRefused) {
  Random random(1);
  const KernelSpec spec;
  Measured m = measured(random, spec, {1, 1, 1, 4, 2, 1}, 1);
  m.k.pop_back();
  EXPECT_THROW((void)error_budget(spec, m.problem.view(), m.originals()), halfulp::InputError);
}

}  // namespace
