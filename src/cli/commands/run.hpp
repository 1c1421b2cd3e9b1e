#pragma once

#include "workspace.hpp"

#include <sabath/app/plan_run.hpp>
#include <sabath/app/run_study.hpp>
#include <sabath/spec/study.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::cli {

struct RunOptions {
  std::string recipe{};
  std::vector<std::string> set{};
  std::optional<std::uint64_t> seed{};
  std::optional<int> repeat{};
  std::vector<std::string> tags{};
  bool fresh = false;
  bool dry_run = false;
  std::string variant{};
  std::string task{};
  bool offline = false;
  // of studies
  std::vector<std::string> sweep{};
  bool zip = false;
  std::string seeds{};
  std::string study{};
  std::string jobs{};
  std::string resume{};
  bool retry = false;
  bool take_over = false;
};

/// NAME=VALUE of each text. Throws Error{usage} that names `option`.
std::map<std::string, std::string> assignments(std::string_view option,
                                               const std::vector<std::string>& texts);

/// How a run ended, where it lies, and what does it again.
std::string outcome_answer(const app::RunOutcome& outcome);

/// Is more than one run asked for, or a study by its name?
bool asks_for_study(const RunOptions& options);

/// The runs that the options ask for: one where they ask for no study. Throws Error{usage}.
std::vector<spec::StudyPoint> points_of(const RunOptions& options, const app::RunRequest& request);

/// --jobs as a number; 0: as many as fit. Throws Error{usage}.
int jobs_of(const RunOptions& options);

int show_dry_run(const RunOptions& options,
                 const app::RunRequest& request,
                 const std::vector<spec::StudyPoint>& points,
                 Workspace& workspace);

int run_new_study(const RunOptions& options,
                  const app::RunRequest& request,
                  const std::vector<spec::StudyPoint>& points,
                  Workspace& workspace);
int resume_study(const RunOptions& options, Workspace& workspace);

/// The exit status of a study: the worst of its points, and interrupted where some were not run.
int study_status(const app::StudyOutcome& outcome);

}  // namespace sabath::cli
