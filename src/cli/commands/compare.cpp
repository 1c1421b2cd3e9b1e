#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/app/compare_groups.hpp>
#include <sabath/app/compare_pair.hpp>
#include <sabath/app/difference_courses.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text_table.hpp>
#include <sabath/report/text.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace sabath::cli {
namespace {

struct CompareOptions {
  std::string a{};
  std::string b{};
  std::string require{};
  std::vector<std::string> across{};
  std::vector<std::string> by{};
  std::optional<double> rtol{};
  std::optional<double> atol{};
};

int compare_selection(const CompareOptions& options, Workspace& workspace) {
  if (!options.b.empty()) {
    throw base::Error(base::ErrorKind::usage,
                      "--by groups the runs of one selection, and there are two",
                      "such as 'sabath compare recipe=NAME --by host'");
  }
  const auto runs = workspace.catalog().select(options.a, workspace.clock().now());
  if (runs.empty()) {
    throw base::Error(base::ErrorKind::not_found,
                      "selection '" + base::printable(options.a) + "': no run matches",
                      "'sabath list runs' shows what there is");
  }
  app::GroupsRequest request;
  request.by = options.by;
  request.across = {options.across.begin(), options.across.end()};
  if (!options.require.empty()) request.require = spec::parse_rung(options.require);
  request.tolerance = {options.atol, options.rtol, {}};
  const spec::GroupComparison comparison = app::compare_groups(runs, request, workspace.catalog());
  workspace.answer(workspace.options().json ? json_answer(comparison)
                                            : report::groups_text(comparison));
  return exit_status(comparison.result);
}

int run_compare(const CompareOptions& options, Workspace& workspace) {
  if (!options.by.empty() || options.b.empty()) return compare_selection(options, workspace);
  compare::Options how;
  if (!options.require.empty()) how.require = spec::parse_rung(options.require);
  how.across = {options.across.begin(), options.across.end()};
  how.tolerance = {options.atol, options.rtol, {}};
  const std::string a = workspace.one_run(options.a).directory;
  const std::string b = workspace.one_run(options.b).directory;
  const spec::Comparison comparison = app::compare_pair(a, b, how);
  const auto courses = [&] {
    return report::difference_text(app::difference_courses(a, b), report::letters_of_locale());
  };
  workspace.answer(workspace.options().json ? json_answer(comparison)
                                            : report::comparison_text(comparison, courses()));
  return exit_status(comparison.result);
}

}  // namespace

void setup_compare(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "say whether two runs, or groups of runs, agree, and where not");
  command->add_option("a", options->a, "a run (id, unique prefix, @last), or a selection of many")
      ->required();
  command->add_option("b", options->b, "another run");
  command
      ->add_option(
          "--require", options->require, "the rung that must hold: bitwise, ulp or tolerance")
      ->check(CLI::IsMember({"bitwise", "ulp", "tolerance"}));
  command
      ->add_option("--across",
                   options->across,
                   "compare although this differs: recipe, data, parameters, or a parameter's name")
      ->allow_extra_args(false);
  command->add_option("--by", options->by, "group the runs of a selection by this: host, seed, ...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--rtol", options->rtol, "relative tolerance, instead of the recipe's")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--atol", options->atol, "absolute tolerance, instead of the recipe's")
      ->check(CLI::NonNegativeNumber);
  command->callback([&action, options] {
    action = [options](Workspace& workspace) { return run_compare(*options, workspace); };
  });
}

}  // namespace sabath::cli
