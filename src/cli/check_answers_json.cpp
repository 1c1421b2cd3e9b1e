#include "check_answers.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::cli {

using nlohmann::ordered_json;

std::string json_answer(const analysis::Proposal& proposal) {
  ordered_json changes = ordered_json::array();
  for (const analysis::ProposedChange& change : proposal.changes) {
    ordered_json entry{{"entry", change.entry}, {"metric", change.metric}};
    const auto moments = [](const spec::BaselineMetric& metric) {
      return ordered_json{{"n", metric.n},
                          {"mean", base::json_number(metric.mean)},
                          {"sd", base::json_number(metric.sd)}};
    };
    if (change.before) entry["before"] = moments(*change.before);
    if (change.after) entry["after"] = moments(*change.after);
    if (change.verdict) entry["verdict"] = to_string(*change.verdict);
    entry["reason"] = change.reason;
    changes.push_back(std::move(entry));
  }
  return base::pretty_json({{"schema", 1},
                            {"baseline", spec::to_json(proposal.baseline)},
                            {"proposed", proposal.proposed},
                            {"changes", changes},
                            {"notes", proposal.notes}});
}

std::string json_answer(const spec::Baseline& baseline) {
  return base::pretty_json(spec::to_json(baseline));
}

std::string json_answer(const spec::CheckReport& report) {
  return base::pretty_json(spec::to_json(report));
}

}  // namespace sabath::cli
