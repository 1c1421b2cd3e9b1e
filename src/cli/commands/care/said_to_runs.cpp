#include "said_to_runs.hpp"

#include "option_parser.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/run_files.hpp>

namespace sabath::cli {

void refuse_known_secrets(const std::string& text, const std::string& place, Workspace& workspace) {
  const base::KnownSecrets secrets =
      home::known_secrets(base::current_environment(), workspace.known_secrets());
  if (!secrets.are_in(text)) return;
  throw usage_error(place + ": has a secret of this session or of credentials.json",
                    "others read what is said of runs: leave the secret out");
}

CareAnswer say_to_runs(const std::vector<catalog::RunRow>& runs,
                       home::RunStatement::Kind kind,
                       const std::string& text,
                       const std::function<bool(const catalog::RunRow& run)>& is_said,
                       Workspace& workspace) {
  for (const catalog::RunRow& run : runs)
    home::require_own_run(run.directory);
  CareAnswer answer;
  base::Progress progress{.task = "writing to runs", .total = runs.size(), .in_bytes = false};
  const std::stop_token stop = workspace.stop();
  const std::string at = base::format_rfc3339(workspace.clock().now());
  for (const catalog::RunRow& run : runs) {
    if (stop.stop_requested()) break;
    if (is_said(run)) {
      answer.unchanged.push_back(run.id);
    } else {
      home::add_statement(run.directory, kind, text, at);
      home::announce(workspace.folders().runs() / run.id, home::RunEvent::finished);
      answer.changed.push_back(run.id);
    }
    ++progress.done;
    workspace.observer().progress(progress);
  }
  progress.finished = true;
  workspace.observer().progress(progress);
  workspace.refresh_catalog();
  if (progress.done < runs.size()) {
    throw base::Error(base::ErrorKind::interrupted,
                      "interrupted after " + std::to_string(progress.done) + " of " +
                          base::counted(runs.size(), "run"),
                      "the same command continues with the others");
  }
  return answer;
}

}  // namespace sabath::cli
