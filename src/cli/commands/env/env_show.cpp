#include "env.hpp"
#include "selected_runs.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/live/environment_text.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>

namespace sabath::cli {
namespace {
/// What was found present otherwise than locked counts as well: by it two differ whose keys are
/// one.
spec::EnvironmentLock lock_of(const spec::BuiltEnvironment& built) {
  spec::EnvironmentLock lock = built.lock();
  for (std::size_t i = 0; i < lock.layers.size(); ++i)
    lock.layers[i].facts.merge(spec::drift_facts(built.layers[i].drift()));
  return lock;
}

spec::EnvironmentLock lock_of_run(const std::string& name, Workspace& workspace) {
  const catalog::RunRow row = one_run(name, workspace);
  const home::RunFiles files(row.directory);
  if (const auto record = files.read_record()) return lock_of(record->environment);
  return lock_of(files.read_plan().environment);
}

spec::EnvironmentLock lock_of_recipe(const spec::Recipe& recipe,
                                     const std::string& variant,
                                     Workspace& workspace) {
  const spec::EnvironmentSpec asked = workspace.runner().preparer().environment_of(recipe, variant);
  if (const auto built = workspace.environments().find(asked, recipe.directory))
    return lock_of(*built);
  return workspace.environments().lock(asked, recipe.directory);
}

/// The layer that a key names, with those that it stands on.
spec::EnvironmentLock lock_of_key(const std::string& key, Workspace& workspace) {
  spec::EnvironmentLock lock;
  std::string wanted = key;
  while (!wanted.empty()) {
    const env::EnvironmentEntry entry = workspace.environments().show(wanted);
    lock.layers.push_back(entry.lock);
    auto& facts = lock.layers.back().facts;
    facts.merge(spec::drift_facts(entry.drift));
    const auto before = facts.find("before");
    wanted = before == facts.end() ? "" : before->second.substr(before->second.find(':') + 1);
  }
  std::ranges::reverse(lock.layers);
  return lock;
}

std::optional<spec::Recipe> recipe_called(const std::string& name, Workspace& workspace) {
  return if_found([&] { return workspace.documents().recipe(name); });
}

/// What a recipe resolves to on this machine now, what a run had, or what lies under a key.
spec::EnvironmentLock lock_called(const std::string& name,
                                  const std::string& variant,
                                  Workspace& workspace) {
  if (names_a_run(name)) return lock_of_run(name, workspace);
  if (const auto recipe = recipe_called(name, workspace)) {
    return lock_of_recipe(*recipe, variant, workspace);
  }
  // RECIPE:VARIANT
  if (const auto colon = name.rfind(':'); colon != std::string::npos) {
    if (const auto recipe = recipe_called(name.substr(0, colon), workspace)) {
      const std::string its = name.substr(colon + 1);
      return lock_of_recipe(*recipe, its.empty() ? variant : its, workspace);
    }
  }
  return lock_of_key(name, workspace);
}

int show_why(const EnvOptions& options, Workspace& workspace) {
  if (options.names.size() != 2) {
    throw usage_error("--why: wants two environments: recipes, runs or keys",
                      "sabath env show --why ONE OTHER, or RECIPE:VARIANT of either");
  }
  const auto found = spec::differences(lock_called(options.names[0], options.variant, workspace),
                                       lock_called(options.names[1], options.variant, workspace));
  std::string text;
  for (const std::string& difference : found)
    text += base::printable(difference) + "\n";
  return answer_with(
      found, found.empty() ? "nothing differs: the keys are the same\n" : text, workspace);
}

/// The recipes whose environment has the layer, as they stand now. `shown` was found to have it.
std::vector<std::string> recipes_with(const spec::LayerLock& layer,
                                      const std::vector<home::RecipeDocument>& documents,
                                      const std::optional<spec::Recipe>& shown,
                                      Workspace& workspace) {
  std::vector<std::string> names;
  for (const home::RecipeDocument& document : documents) {
    const spec::Recipe& recipe = document.recipe;
    const spec::EnvironmentSpec all = workspace.runner().preparer().environments_of(recipe);
    std::vector<std::string> variants = all.variants;
    if (variants.empty()) variants.emplace_back();
    const auto has_it = [&](const std::string& variant) {
      return workspace.environments().resolves_to(layer, all.select(variant), recipe.directory);
    };
    const bool is_shown =
        shown && shown->name == recipe.name && shown->directory == recipe.directory;
    if (is_shown || std::ranges::any_of(variants, has_it)) names.push_back(recipe.name);
  }
  return names;
}

/// Those that the catalog knows of; without it none.
std::vector<std::string> runs_with(const base::Digest& key, Workspace& workspace) {
  std::vector<std::string> runs;
  try {
    const auto rows = workspace.catalog().select("environment=" + key.hex, workspace.clock().now());
    for (const catalog::RunRow& row : rows)
      runs.push_back(row.id);
  } catch (const base::Error& error) {
    workspace.observer().warn(error.what(), error.hint());
  }
  return runs;
}

/// The layers of a recipe that are there. `name`: what was typed for it.
std::vector<env::EnvironmentEntry> entries_of(const spec::Recipe& recipe,
                                              const std::string& name,
                                              const std::string& variant,
                                              Workspace& workspace) {
  const auto built = workspace.environments().find(
      workspace.runner().preparer().environment_of(recipe, variant), recipe.directory);
  if (!built) {
    std::vector<std::string> build{"sabath", "env", "build", name};
    if (!variant.empty()) build.insert(build.end(), {"--variant", variant});
    throw base::Error(
        base::ErrorKind::environment,
        "environment of '" + recipe.name + "': not built yet, or not checked for this recipe",
        base::shown_command(build));
  }
  std::vector<env::EnvironmentEntry> entries;
  for (const spec::BuiltLayer& layer : built->layers) {
    if (layer.prefix.empty()) {
      entries.push_back({.lock = layer.lock, .state = "ready"});
    } else {
      entries.push_back(workspace.environments().show(layer.lock.key.hex));
    }
  }
  return entries;
}

/// Shows the layers of a recipe that are there, or one layer by the beginning of its key.
int env_show(const EnvOptions& options, Workspace& workspace) {
  if (options.why) return show_why(options, workspace);
  if (options.names.size() != 1) {
    throw usage_error("env show: wants one recipe or key");
  }
  const std::string& name = options.names.front();
  std::vector<env::EnvironmentEntry> entries;
  const std::optional<spec::Recipe> recipe = recipe_called(name, workspace);
  if (!recipe) entries.push_back(workspace.environments().show(name));
  if (recipe) entries = entries_of(*recipe, name, options.variant, workspace);
  std::vector<home::BadDocument> bad;
  const std::vector<home::RecipeDocument> documents = workspace.documents().recipes(bad);
  std::vector<EnvironmentReport> reports;
  std::string text;
  for (env::EnvironmentEntry& entry : entries) {
    EnvironmentReport report;
    report.recipes = recipes_with(entry.lock, documents, recipe, workspace);
    report.runs = runs_with(entry.lock.key, workspace);
    report.entry = std::move(entry);
    text += live::entry_text(report.entry, report.recipes, report.runs);
    reports.push_back(std::move(report));
  }
  return answer_with(reports, text, workspace);
}

}  // namespace

void setup_env_show(OptionParser& group, Action& action) {
  auto [show, options] = add_command(
      group, action, "show", "show layers, what identifies them, and where they are", env_show);
  show.add_option("name", options.names, "a recipe, or the beginning of a key")
      ->required()
      ->expected(1, 2);
  add_variant(show, options);
  show.add_flag("--why", options.why, "say in words what makes two of them differ");
}

}  // namespace sabath::cli
