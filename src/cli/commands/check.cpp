#include "commands.hpp"
#include "commands/run/run.hpp"
#include "selected_runs.hpp"

#include <sabath/app/check_runs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/baseline_files.hpp>
#include <sabath/home/baseline_uses.hpp>
#include <sabath/report/check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sabath::cli {
namespace {

struct CheckOptions {
  RunOptions run{};  ///< its recipe may be a selection
  std::string baseline{};
  std::string junit{};
  std::string markdown{};
  std::string badge{};
  std::string require{};
  std::string only{};
};

void write_reports(const CheckOptions& options, const spec::CheckReport& report) {
  if (!options.junit.empty()) base::write_file_atomically(options.junit, report::junit_xml(report));
  if (!options.markdown.empty())
    base::write_file_atomically(options.markdown, report::check_markdown(report));
  if (!options.badge.empty()) base::write_file_atomically(options.badge, report::badge_svg(report));
}

/// Later `rm` asks before it removes a run of this baseline.
void remember(const CheckOptions& options, const app::CheckRequest& request, Workspace& workspace) {
  if (!request.baseline) return;
  try {
    home::remember_baseline(workspace.folders().home,
                            options.baseline,
                            *request.baseline,
                            base::format_rfc3339(workspace.clock().now()));
  } catch (const base::Error& error) {
    workspace.observer().warn(error.what(), error.hint());  // no check fails for this
  }
}

app::CheckRequest request_of(const CheckOptions& options, Workspace& workspace) {
  app::CheckRequest request;
  request.what = options.run.recipe;
  request.file = options.baseline;
  if (!options.baseline.empty()) request.baseline = home::read_baseline(options.baseline);
  if (!options.require.empty()) request.require = spec::parse_enum<spec::Rung>(options.require);
  request.results = options.only != "performance";
  request.performance = options.only != "result";
  request.now = workspace.clock().now();
  return request;
}

void refuse_run_options(const RunOptions& options) {
  if (!has_run_options(options) && options.jobs.empty()) return;
  throw usage_error("'" + base::printable(options.recipe) +
                        "' selects existing runs, so options for new runs cannot be used",
                    "'sabath check RECIPE' runs one");
}

std::string point_name(const spec::StudyPoint& point, std::size_t number) {
  std::string text = fmt::format("run {}", number);
  for (const auto& [name, value] : point.set)
    text += fmt::format(" {}={}", name, value);
  if (point.seed) text += fmt::format(" seed {}", *point.seed);
  return text;
}

/// Parameters of a run that affect its result.
spec::ParameterValues parameters_of(const planning::RunRequest& asked,
                                    const spec::StudyPoint& point) {
  spec::ParameterValues values = planning::resolve_parameters(asked.recipe, point.set, asked.named);
  for (const spec::Parameter& parameter : asked.recipe.parameters) {
    if (!parameter.affects_result) values.erase(parameter.name);
  }
  return values;
}

/// What is known of the runs before they are made; each once.
std::vector<spec::BaselineKey> keys_of(const CheckOptions& options,
                                       const planning::RunRequest& asked) {
  std::vector<spec::BaselineKey> keys;
  for (const spec::StudyPoint& point : points_of(options.run, asked)) {
    spec::BaselineKey key;
    key.task = asked.task;
    key.site = options.run.on.empty() ? "local" : options.run.on;
    key.recipe_definition = asked.recipe.definition_digest(
        planning::resolve_parameters(asked.recipe, point.set, asked.named));
    key.parameters = parameters_of(asked, point);
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
  }
  return keys;
}

/// Warns of runs that have no other run of their key and seed to be compared with.
void warn_of_nothing_to_hold(const CheckOptions& options,
                             const planning::RunRequest& asked,
                             Workspace& workspace) {
  if (!options.baseline.empty()) return;
  const std::vector<spec::StudyPoint> points = points_of(options.run, asked);
  std::map<std::pair<spec::ParameterValues, std::uint64_t>, std::size_t> alike;
  std::size_t drawn = 0;
  for (const spec::StudyPoint& point : points) {
    if (point.seed) {
      ++alike[{parameters_of(asked, point), *point.seed}];
    } else {
      ++drawn;
    }
  }
  const auto once = std::ranges::count_if(alike, [](const auto& runs) { return runs.second == 1; });
  const std::size_t alone = drawn + static_cast<std::size_t>(once);
  if (alone == 0) return;
  workspace.observer().warn(
      fmt::format("the answer is INCONCLUSIVE at best: {} of {} cannot be compared without a "
                  "baseline, since no other run has the same parameters and seed",
                  alone,
                  base::counted(points.size(), "run")),
      std::string(drawn > 0 ? "--seed S --repeat 2 makes two runs of one seed"
                            : "--repeat 2 makes another run of each") +
          ", --baseline FILE says what is accepted");
}

/// Makes the runs that are asked for; false where the user ended that.
bool make_runs(const CheckOptions& options,
               const planning::RunRequest& asked,
               app::CheckRequest& request,
               std::string& selection,
               Workspace& workspace) {
  const CarriedOut made = carry_out(options.run, asked, "check", workspace);
  selection = "study=" + made.study.plan.study_id;
  for (std::size_t i = 0; i < made.study.points.size(); ++i) {
    if (!made.study.points[i].run)
      request.not_run.push_back(point_name(made.study.plan.points[i], i + 1));
  }
  return made.over;
}

int answer_check(const CheckOptions& options,
                 const spec::CheckReport& report,
                 Workspace& workspace) {
  write_reports(options, report);
  return answer_with(report, report::check_text(report), workspace, exit_status(report.verdict));
}

int run_check(const CheckOptions& options, Workspace& workspace) {
  spec::CheckReport nothing;
  nothing.what = options.run.recipe;
  nothing.reason = "the check did not finish";
  write_reports(options, nothing);  // nobody is to read an earlier one after a crash
  app::CheckRequest request = request_of(options, workspace);
  remember(options, request, workspace);
  std::string selection = options.run.recipe;
  bool over = true;
  if (names_a_run(options.run.recipe)) {
    refuse_run_options(options.run);
  } else {
    if (options.run.pack && options.run.on.empty()) throw usage_error("--pack: needs --on SITE");
    planning::RunRequest asked = request_from(options.run, workspace);
    asked.fresh = true;  // what is judged is what the code does now
    const auto refused =
        app::refuse_before_runs(asked.recipe.name, keys_of(options, asked), request);
    if (refused) return answer_check(options, *refused, workspace);
    warn_of_nothing_to_hold(options, asked, workspace);
    over = make_runs(options, asked, request, selection, workspace);
    request.named.perturbed = true;  // where the options of these runs said so
  }
  if (over) workspace.end_at_signal();
  const auto rows = with_files(runs_if_any(selection, workspace), workspace);
  request.named.add_selection(selection, rows, workspace.catalog());
  const auto report = app::check_runs(rows, request, workspace.catalog());
  const int status = answer_check(options, report, workspace);
  return over ? status : exit_interrupted;
}

}  // namespace

void setup_check(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app,
                  action,
                  "check",
                  "run a recipe, or take existing runs, and check them against a baseline",
                  run_check);
  command
      .add_option(
          "what", options.run.recipe, "a recipe's name or path, or a selection of existing runs")
      ->required();
  command.add_option("--baseline", options.baseline, "a file: the baseline to check against");
  command.add_option("--junit", options.junit, "write a report for CI systems: JUnit XML");
  command.add_option("--markdown", options.markdown, "write a comment in Markdown");
  command.add_option("--badge", options.badge, "write a badge: SVG");
  command
      .add_option("--require",
                  options.require,
                  "the rung that must hold, run by run of one seed: bitwise, ulp or tolerance")
      ->one_of({"bitwise", "ulp", "tolerance"});
  command.add_option("--only", options.only, "judge only this: result or performance")
      ->one_of({"result", "performance"});
  add_run_options(command, options.run);
}

}  // namespace sabath::cli
