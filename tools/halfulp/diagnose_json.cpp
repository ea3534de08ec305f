// Words are hexadecimal text, as everywhere in JSON output.
#include "diagnose_json.hpp"

#include "halfulp/vectors/card.hpp"

namespace halfulp::tool {

using namespace halfulp::vectors;

nlohmann::ordered_json diagnosis_json(const CastPlan& plan, const Diagnosis& diagnosis) {
  using Json = nlohmann::ordered_json;
  Json fits = Json::array();
  for (const Fit& fit : diagnosis.fits) {
    Json one = {{"behaviour", fit.behaviour},   {"equals", fit.equals},   {"allowed_by", fit.allowed_by},
                {"departures", fit.departures}, {"matched", fit.matched}, {"explained", fit.explained},
                {"broken", fit.broken}};
    if (fit.unexplained) {
      one["unexplained"] = {{"input", word_text(*plan.from, fit.unexplained->word)},
                            {"got", word_text(plan.to, fit.unexplained->got)},
                            {"predicted", word_text(plan.to, fit.unexplained->want)}};
    }
    if (fit.apart) {
      one["apart"] = {{"input", word_text(*plan.from, fit.apart->word)},
                      {"first_fit", word_text(plan.to, fit.apart->got)},
                      {"this_fit", word_text(plan.to, fit.apart->want)}};
    }
    fits.push_back(one);
  }
  return {{"answers", diagnosis.cases},
          {"by_spec", diagnosis.by_spec},
          {"differences", diagnosis.differences()},
          {"compared", diagnosis.compared},
          {"fits", fits}};
}

}  // namespace halfulp::tool
