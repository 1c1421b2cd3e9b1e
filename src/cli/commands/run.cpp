#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/app/run_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text_table.hpp>
#include <sabath/report/text.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace sabath::cli {
namespace {

struct RunOptions {
  std::string recipe{};
  std::vector<std::string> set{};
  std::optional<std::uint64_t> seed{};
  int repeat = 1;
  std::vector<std::string> tags{};
  bool fresh = false;
  bool dry_run = false;
  std::string variant{};
  bool offline = false;
};

std::map<std::string, std::string> assignments(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> set;
  for (const std::string& text : texts) {
    const auto sign = text.find('=');
    if (sign == std::string::npos || sign == 0) {
      throw base::Error(base::ErrorKind::usage,
                        "--set: '" + base::printable(text) + "' is not NAME=VALUE");
    }
    if (!set.emplace(text.substr(0, sign), text.substr(sign + 1)).second) {
      throw base::Error(base::ErrorKind::usage,
                        "--set: '" + base::printable(text.substr(0, sign)) + "' is set twice");
    }
  }
  return set;
}

/// A recipe's name, or its path where the name would not be found without more.
std::string lasting_name(const std::string& given, const spec::Recipe& recipe, bool catalogs) {
  const bool by_path = !base::is_safe_name(given) || given.ends_with(".json");
  if (by_path) return std::filesystem::canonical(given).string();
  return catalogs ? recipe.directory.string() : given;
}

app::RunRequest request_from(const RunOptions& options, Workspace& workspace) {
  for (const std::string& tag : options.tags) {
    if (!base::is_safe_name(tag)) {
      throw base::Error(base::ErrorKind::usage,
                        "--tag: '" + base::printable(tag) + "' is not a name",
                        "lower-case letters, digits, '.', '_' and '-'");
    }
  }
  app::RunRequest request;
  request.recipe = workspace.documents().recipe(options.recipe);
  request.named =
      lasting_name(options.recipe, request.recipe, !workspace.options().catalogs.empty());
  request.set = assignments(options.set);
  app::resolve_parameters(request.recipe, request.set);  // before any folder is made
  request.seed = options.seed;
  request.tags = options.tags;
  request.fresh = options.fresh;
  request.variant = options.variant;
  // Refuses an unknown one, where the environment is the recipe's own.
  const spec::EnvironmentSpec& own = request.recipe.environment;
  if (!own.layers.empty() && !request.variant.empty()) own.select(request.variant);
  request.offline = options.offline;
  if (options.offline) workspace.stay_offline();
  return request;
}

int show_plan(const app::RunRequest& request, int repeat, Workspace& workspace) {
  const spec::RunPlan plan = app::RecipeRunner::dry_run(request);
  if (workspace.options().json) {
    workspace.answer(json_dry_run(plan, repeat));
    return exit_done;
  }
  std::string text = std::to_string(repeat) + " run(s) of " + request.recipe.name + "\n";
  for (const auto& [name, value] : plan.parameters) {
    text += "  " + name + " = " + base::printable(spec::to_string(value)) + "\n";
  }
  text += "  seed = " +
          (plan.seed.value ? std::to_string(*plan.seed.value) : std::string("drawn for each run")) +
          "\n";
  for (const spec::PlannedStage& stage : plan.stages) {
    text += "stage " + stage.name + (stage.cache ? " (cached)" : "") + "\n  " +
            base::printable(base::quote_command(stage.argv)) + "\n";
  }
  workspace.answer(text);
  return exit_done;
}

std::string text_answer(const std::vector<app::RunOutcome>& outcomes) {
  std::string text;
  std::string again;
  for (const app::RunOutcome& outcome : outcomes) {
    const auto record = app::RunFiles(outcome.directory).read_record();
    if (record) {
      text += report::outcome_text(*record);
      again = record->reproduce;
    } else {
      text += outcome.run_id + "  " + std::string(spec::to_string(outcome.state)) + "\n" +
              base::printable(outcome.message) + "\n";
    }
    text += "  in " + outcome.directory.string() + "\n";
  }
  if (!again.empty()) text += "again: " + base::printable(again) + "\n";
  return text;
}

int run_run(const RunOptions& options, Workspace& workspace) {
  const app::RunRequest request = request_from(options, workspace);
  if (options.dry_run) return show_plan(request, options.repeat, workspace);
  const std::vector<app::RunOutcome> outcomes =
      workspace.runner().run(request, options.repeat, workspace.observer(), workspace.stop());
  try {
    workspace.catalog();
  } catch (const base::Error& error) {
    // The runs are recorded in files; the index can be made again at any time.
    workspace.observer().warn(error.what(), error.hint());
  }
  workspace.answer(workspace.options().json ? json_answer(outcomes) : text_answer(outcomes));
  int status = exit_done;
  for (const app::RunOutcome& outcome : outcomes) {
    status = std::max<int>(status, exit_status(outcome.state));
  }
  // Fewer runs than were asked for are no success, whatever they say.
  if (outcomes.size() < static_cast<std::size_t>(options.repeat)) {
    status = std::max<int>(status, exit_interrupted);
  }
  return status;
}

}  // namespace

void setup_run(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "run a recipe and record it");
  command
      ->add_option(
          "recipe", options->recipe, "a recipe's name, or the path of its folder or document")
      ->required();
  command->add_option("--set", options->set, "NAME=VALUE: give a parameter another value")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option(
      "--seed", options->seed, "the seed of every run; without it each draws its own");
  command->add_option("--repeat", options->repeat, "so many runs, one after the other")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--tag", options->tags, "a word to find the runs by")
      ->allow_extra_args(false);
  command->add_option(
      "--variant", options->variant, "the environment's variant; else the site's, else the first");
  command->add_flag("--offline", options->offline, "what is not in the cache is an error");
  command->add_flag("--fresh", options->fresh, "reuse no cached stage");
  command->add_flag(
      "--dry-run", options->dry_run, "show what would be run; fetch, build and run nothing");
  command->callback([&action, options] {
    action = [options](Workspace& workspace) { return run_run(*options, workspace); };
  });
}

}  // namespace sabath::cli
