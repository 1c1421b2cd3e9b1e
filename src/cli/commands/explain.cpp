#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/app/collect_run.hpp>
#include <sabath/app/explain_pair.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/report/text.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>

namespace sabath::cli {
namespace {

struct ExplainOptions {
  std::string a{};
  std::string b{};
  std::string require{};
  std::optional<double> rtol{};
  std::optional<double> atol{};
  std::size_t budget = 16;
  std::optional<double> minutes{};
  bool offline = false;
};

/// A failed run is no answer: what it says is told, and the search is over.
std::filesystem::path make_run(const app::RunRequest& request, Workspace& workspace) {
  const app::RunOutcome outcome =
      workspace.runner().run(request, workspace.observer(), workspace.stop());
  workspace.index_runs();
  if (outcome.state == spec::RunState::ok) return outcome.directory;
  if (outcome.state == spec::RunState::interrupted)
    throw base::Error(base::ErrorKind::interrupted, outcome.run_id + ": interrupted");
  throw base::Error(
      base::ErrorKind::usage,
      outcome.run_id + ": " + std::string(spec::to_string(outcome.state)) + ": " + outcome.message,
      "'sabath logs " + outcome.run_id + "' shows what it wrote");
}

std::optional<std::filesystem::path> find_run(const std::string& tag, Workspace& workspace) {
  std::optional<std::filesystem::path> newest;
  for (const catalog::RunRow& run :
       workspace.catalog().select("tag=" + tag, workspace.clock().now())) {
    std::error_code code;
    if (run.state == spec::RunState::ok && std::filesystem::exists(run.directory, code))
      newest = run.directory;
  }
  return newest;
}

int run_explain(const ExplainOptions& options, Workspace& workspace) {
  app::ExplainRequest request;
  request.a = workspace.one_run(options.a).directory;
  request.b = workspace.one_run(options.b).directory;
  if (request.a == request.b)
    throw base::Error(base::ErrorKind::usage, "A and B are one run: nothing differs");
  if (!options.require.empty()) request.options.require = spec::parse_rung(options.require);
  request.options.tolerance = {options.atol, options.rtol, {}};
  request.budget = options.budget;
  request.offline = options.offline;
  if (options.offline) workspace.stay_offline();
  const auto parent = workspace.folders().state() / "explain";
  base::make_directories(parent);
  const base::TempDir work(parent);
  const auto begun = std::chrono::steady_clock::now();
  app::ExplainTools tools;
  tools.work = work.path();
  tools.run = [&](const app::RunRequest& wanted) {
    const auto made = make_run(wanted, workspace);
    app::collect_like(app::RunFiles(request.a), app::RunFiles(made), workspace.clock());
    return made;
  };
  tools.find = [&](const std::string& tag) { return find_run(tag, workspace); };
  tools.has_time = [&] {
    const std::chrono::duration<double, std::ratio<60>> spent =
        std::chrono::steady_clock::now() - begun;
    return !options.minutes || spent.count() < *options.minutes;
  };
  const spec::Explanation explanation = app::explain_pair(request, tools, workspace.observer());
  workspace.answer(workspace.options().json ? json_answer(explanation)
                                            : report::explanation_text(explanation));
  const bool is_answered = !explanation.cause.empty() || explanation.verdict == spec::Verdict::pass;
  return exit_status(is_answered ? spec::Verdict::pass : spec::Verdict::inconclusive);
}

}  // namespace

void setup_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand(
      "explain", "find out which difference between two runs is why they do not agree");
  command->add_option("a", options->a, "a run: id, unique prefix, @last, @last~1")->required();
  command->add_option("b", options->b, "the run that does not agree with it")->required();
  command
      ->add_option(
          "--require", options->require, "the rung that must hold: bitwise, ulp or tolerance")
      ->check(CLI::IsMember({"bitwise", "ulp", "tolerance"}));
  command->add_option("--rtol", options->rtol, "relative tolerance, instead of the recipe's")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--atol", options->atol, "absolute tolerance, instead of the recipe's")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--budget", options->budget, "make so many runs at most (16)")
      ->check(CLI::Range(0, 10'000));
  command->add_option("--time", options->minutes, "start no run after so many minutes")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--offline", options->offline, "what is not in the cache is an error");
  command->callback([&action, options] {
    action = [options](Workspace& workspace) { return run_explain(*options, workspace); };
  });
}

}  // namespace sabath::cli
