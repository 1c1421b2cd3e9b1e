#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/app/compare_pair.hpp>
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
  std::optional<double> rtol{};
  std::optional<double> atol{};
};

int run_compare(const CompareOptions& options, Workspace& workspace) {
  compare::Options how;
  if (!options.require.empty()) how.require = spec::parse_rung(options.require);
  how.across = {options.across.begin(), options.across.end()};
  how.tolerance = {options.atol, options.rtol, {}};
  const spec::Comparison comparison = app::compare_pair(
      workspace.one_run(options.a).directory, workspace.one_run(options.b).directory, how);
  workspace.answer(workspace.options().json ? json_answer(comparison)
                                            : report::comparison_text(comparison));
  return exit_status(comparison.result);
}

}  // namespace

void setup_compare(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      app.add_subcommand("compare", "say whether two runs agree, and where they parted");
  command->add_option("a", options->a, "a run: id, unique prefix, @last, @last~1")->required();
  command->add_option("b", options->b, "another")->required();
  command
      ->add_option(
          "--require", options->require, "the rung that must hold: bitwise, ulp or tolerance")
      ->check(CLI::IsMember({"bitwise", "ulp", "tolerance"}));
  command
      ->add_option("--across",
                   options->across,
                   "compare although this differs: recipe, data, parameters, or a parameter's name")
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
