#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/app/explain_pair.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/execution/collect_run.hpp>
#include <sabath/planning/repeat_run.hpp>
#include <sabath/report/text.hpp>
#include <sabath/sharing/import_crate.hpp>

#include <chrono>

namespace sabath::cli {
namespace {

struct ExplainOptions {
  std::string a{};
  std::string b{};
  std::string require{};
  std::optional<double> minutes{};
  app::ExplainRequest request{};  ///< without what the options above say
};

/// That a hybrid cannot be made says something of the hybrid; a full disk or a stop does not.
bool is_of_the_run(base::ErrorKind kind) {
  return kind != base::ErrorKind::catalog && kind != base::ErrorKind::storage &&
         kind != base::ErrorKind::interrupted && kind != base::ErrorKind::internal;
}

std::string problem_of(spec::RunState state, const std::string& message) {
  const std::string what(spec::to_string(state));
  return message.empty() ? what : what + ": " + message;
}

app::MadeRun make_run(const planning::RunRequest& request, Workspace& workspace) {
  execution::RunOutcome outcome;
  try {
    outcome = workspace.runner().run(request, workspace.observer(), workspace.stop());
  } catch (const base::Error& error) {
    if (!is_of_the_run(error.kind())) throw;
    return {{}, error.what()};
  }
  workspace.index_runs();
  if (outcome.state == spec::RunState::ok) return {outcome.directory, {}};
  if (outcome.state == spec::RunState::interrupted)
    throw base::Error(base::ErrorKind::interrupted, outcome.run_id + ": interrupted");
  return {outcome.directory, problem_of(outcome.state, outcome.message)};
}

std::optional<app::MadeRun> find_run(const std::string& tag, Workspace& workspace) {
  std::optional<app::MadeRun> found;
  for (const catalog::RunRow& run :
       workspace.catalog().select("tag=" + tag, workspace.clock().now())) {
    std::error_code code;
    if (!std::filesystem::exists(run.directory, code)) continue;
    const bool is_bad = run.state == spec::RunState::failed || run.state == spec::RunState::stopped;
    if (run.state == spec::RunState::ok) {
      found = app::MadeRun{run.directory, {}};
    } else if (is_bad && (!found || !found->problem.empty())) {
      found = app::MadeRun{run.directory, problem_of(run.state, run.message)};
    }
  }
  return found;
}

/// `explain` makes runs of both sides' code, and asks nobody.
void refuse_imported(const app::ExplainRequest& request) {
  for (const auto& directory : {request.a, request.b}) {
    const auto imported = sharing::imported_run(directory);
    if (!imported || imported->is_trusted) continue;
    throw base::Error(base::ErrorKind::access,
                      "run '" + imported->run_id + "' came in a crate: its code is a stranger's",
                      "'sabath repro " + imported->run_id + "' asks before it repeats it");
  }
}

int run_explain(const ExplainOptions& options, Workspace& workspace) {
  if (options.b.empty()) {
    throw usage_error("explain: two runs or selections are needed",
                      "such as 'sabath explain @last~1 @last'");
  }
  app::ExplainRequest request = options.request;
  request.a = one_run(options.a, workspace).directory;
  request.b = one_run(options.b, workspace).directory;
  refuse_imported(request);
  if (request.a == request.b) throw usage_error("A and B are one run: nothing differs");
  if (!options.require.empty())
    request.options.require = spec::parse_enum<spec::Rung>(options.require);
  if (request.offline) workspace.stay_offline();
  const auto parent = workspace.folders().state() / "explain";
  base::make_directories(parent);
  const base::TempDir work(parent);
  workspace.remove_at_signal(work.path());
  const auto begun = std::chrono::steady_clock::now();
  app::ExplainTools tools;
  tools.work = work.path();
  tools.state_directory = workspace.folders().state();
  tools.again = [&](const std::filesystem::path& run, const std::filesystem::path& folder) {
    planning::RunRequest asked = planning::repeat_run(
        run,
        folder,
        {workspace.processes(), workspace.observer(), workspace.stop(), workspace.trust()});
    workspace.end_at_signal();
    return asked;
  };
  const auto collect_like_a = [&](const app::MadeRun& run) {
    execution::collect_like(
        home::RunFiles(request.a), home::RunFiles(run.directory), workspace.clock());
  };
  tools.run = [&](const planning::RunRequest& wanted) {
    app::MadeRun made = make_run(wanted, workspace);
    if (made.problem.empty()) {
      collect_like_a(made);
      workspace.end_at_signal();
    }
    return made;
  };
  tools.find = [&](const std::string& tag) {
    auto found = find_run(tag, workspace);
    // A may have been collected again since.
    if (found && found->problem.empty()) collect_like_a(*found);
    return found;
  };
  tools.has_time = [&] {
    const std::chrono::duration<double, std::ratio<60>> spent =
        std::chrono::steady_clock::now() - begun;
    return !options.minutes || spent.count() < *options.minutes;
  };
  const spec::Explanation explanation = app::explain_pair(request, tools, workspace.observer());
  workspace.answer(workspace.json() ? json_answer(explanation)
                                    : report::explanation_text(explanation));
  if (explanation.verdict == spec::Verdict::not_comparable) return exit_not_comparable;
  const bool is_answered = explanation.complete || explanation.verdict == spec::Verdict::pass;
  return exit_status(is_answered ? spec::Verdict::pass : spec::Verdict::inconclusive);
}

}  // namespace

void setup_explain(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app,
                  action,
                  "explain",
                  "find which differences between two runs cause their different results",
                  run_explain);
  command.add_option("a", options.a, "a run: id, unique prefix, @last, @last~1")->required();
  command.add_option("b", options.b, "the run that does not agree with it");
  add_rung(command, options.require);
  add_tolerances(command, options.request.options.tolerance);
  command.add_option("--budget", options.request.budget, "make at most this number of runs (16)")
      ->range(0, 10'000);
  command.add_option("--time", options.minutes, "start no run after this number of minutes")
      ->check(why_no_amount);
  command.add_flag("--offline", options.request.offline, "what is not in the cache is an error");
  command.add_flag("--assume-monotone",
                   options.request.assume_monotone,
                   "assume that no change masks another: fewer runs");
}

}  // namespace sabath::cli
