// Runs laws under RapidCheck and reports to GoogleTest: see law.hpp.
#include "law.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "generators.hpp"
#include "halfulp/names.hpp"

namespace halfulp::laws {
namespace {

struct Skipped {};

/// The seed, and how many cases every law is judged on. Fixed: the default tier is deterministic.
constexpr const char* kParameters = "seed=20260101 max_success=6000";

}  // namespace

std::ostream& operator<<(std::ostream& out, const CastCase& c) {
  const CastPolicy& p = c.policy;
  out << c.from.name << std::hex << " 0x" << c.word << " (other 0x" << c.other << ") -> " << c.to.name
      << ' ' << name_of(p.rounding) << ' ' << name_of(p.overflow) << " test=" << name_of(p.overflow_test)
      << " directed=" << name_of(p.directed_overflow) << " nan=" << name_of(p.nan_sign) << ','
      << name_of(p.nan_code) << ',' << name_of(p.nan_none) << " inf_none=" << name_of(p.inf_none)
      << " negative=" << name_of(p.negative) << " zero=" << name_of(p.zero) << " flush=" << name_of(p.flush)
      << " fnuz=" << name_of(p.fnuz_nan) << " low=" << name_of(p.low_binade)
      << " sr=" << name_of(p.sr_variant) << std::dec << p.sr_bits << std::hex << " random=0x" << c.random
      << std::dec;
  return out;
}

void for_all(const Space& space, const std::function<void(const CastCase&)>& law) {
  ::setenv("RC_PARAMS", kParameters, /*overwrite=*/0);
  const auto cases = any_case(space);
  const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata about;
  about.id = std::string(test->test_suite_name()) + "/" + test->name();
  about.description = about.id;
  const auto outcome = rc::detail::checkTestable(
      [&] {
        const CastCase c = *cases;
        try {
          law(c);
        } catch (const Skipped&) {
          RC_DISCARD("the law says nothing about this case");
        }
      },
      about);
  if (outcome.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(outcome, text);
  ADD_FAILURE() << text.str();
}

void skip() {
  throw Skipped{};
}

void require(bool holds, std::string_view sentence, std::initializer_list<std::uint64_t> words) {
  if (holds) return;
  std::ostringstream text;
  text << sentence << std::hex;
  for (const std::uint64_t word : words) text << " 0x" << word;
  throw std::logic_error(text.str());
}

std::strong_ordering compare_places(const oracle::Value& a, const oracle::Value& b) {
  const auto beyond = [](const oracle::Value& x) { return x.is_finite() ? 0 : x.negative ? -1 : 1; };
  if (const auto order = beyond(a) <=> beyond(b); order != 0) return order;
  return beyond(a) == 0 ? a.number() <=> b.number() : std::strong_ordering::equal;
}

}  // namespace halfulp::laws
