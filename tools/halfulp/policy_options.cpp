// Policy options; see policy_options.hpp.
#include "policy_options.hpp"

#include <string_view>

#include "halfulp/names.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

template <class Enum>
std::string words() {
  std::string all;
  for (const auto& entry : kNames<Enum>) {
    all += (all.empty() ? "" : ", ") + std::string(entry.name);
    if (!entry.short_form.empty() && entry.short_form != entry.name)
      all += " (" + std::string(entry.short_form) + ")";
  }
  return all;
}

struct PolicyOption {
  const char* key;  ///< of CastRequest::options
  const char* type;
  std::string help;
};

}  // namespace

void add_policy_options(CLI::App& app, CastRequest& request) {
  const char* group = "Policy";
  app.add_option("--dialect,-d", request.dialect, "The rules of one library version; options beside it win")
      ->type_name("NAME")
      ->group(group);
  const PolicyOption options[] = {
      {"rounding", "R", words<Rounding>()},
      {"overflow", "O", words<Overflow>()},
      {"nan", "N",
       "sign of a NaN: " + words<NanSign>() + "; formats without NaN: " + words<NanNone>() +
           "; may be given twice"},
      {"nan-code", "C", "which NaN: " + words<NanCode>()},
      {"inf-none", "I", "Inf into a format with neither Inf nor NaN: " + words<InfNone>()},
      {"negative", "N", "a negative into an unsigned format: " + words<Negative>()},
      {"zero", "Z", "zero into e8m0: " + words<ZeroInto>()},
      {"directed-overflow", "D", "finite overflow rounded inward: " + words<DirectedOverflow>()},
      {"overflow-test", "T", "overflow judged before or after rounding: " + words<OverflowTest>()},
      {"flush", "F", "subnormals to zero: " + words<Flush>()},
      {"fnuz-nan", "N", "NaN into an FNUZ format: " + words<FnuzNan>()},
      {"low-binade", "L", "e8m0, below 2^-126: " + words<LowBinade>()},
      {"via", "FORMAT", "round to this format first, ties to even"},
      {"sr-variant", "V", "stochastic rounding: " + words<Stochastic>()},
      {"sr-bits", "N", "random bits per value, 1 to 32"},
      {"sr-random", "HEX", "this random word for every value"},
      {"seed", "N", "seed of the counter-based random words"},
  };
  for (const PolicyOption& option : options) {
    const std::string key = option.key;
    const auto take = [&request, key](const CLI::results_t& given) {
      for (const std::string& word : given) request.options.emplace_back(key, trimmed(word));
      return true;
    };
    CLI::Option* added = app.add_option("--" + key, CLI::callback_t(take), option.help)
                             ->type_name(option.type)
                             ->group(group);
    if (key == "nan") added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
}

std::string dialect_list() {
  std::string text = "Dialects:";
  std::size_t column = 100;
  std::string_view last;
  for (const DialectRow& row : kDialectRows) {
    if (row.dialect == last) continue;
    last = row.dialect;
    if (column + last.size() > 98) {
      text += "\n ";
      column = 1;
    }
    text.append(" ").append(last);
    column += last.size() + 1;
  }
  return text;
}

}  // namespace halfulp::tool
