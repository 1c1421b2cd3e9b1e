#include "commands/run/watching.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::cli {

std::string watch_json(const std::vector<batch::WatchedRun>& runs, const WatchedStudies& studies) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (const batch::WatchedRun& run : runs) {
    const std::string state(spec::to_string(run.state));
    counts[state] = counts.value(state, 0) + 1;
    rows.push_back({{"id", run.run_id},
                    {"study", run.study},
                    {"state", state},
                    {"goes_on", run.goes_on()},
                    {"detail", run.detail},
                    {"directory", run.directory.string()}});
  }
  nlohmann::ordered_json whole = nlohmann::ordered_json::array();
  std::size_t all_left = 0;
  for (const WatchedStudy& study : studies) {
    const std::size_t left = not_run(study, runs);
    all_left += left;
    whole.push_back({{"id", study.id},
                     {"points", study.points},
                     {"not_run", left},
                     {"goes_on", study.is_driven}});
  }
  if (all_left > 0) counts["not_run"] = all_left;
  return base::pretty_json({{"schema", 1}, {"counts", counts}, {"studies", whole}, {"runs", rows}});
}

}  // namespace sabath::cli
