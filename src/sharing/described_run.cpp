#include "described_run.hpp"

#include "local_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/asset.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <set>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::printable;

/// Sources of one asset that are listed one by one; of more the folders are.
constexpr std::size_t most_sources = 20;

[[noreturn]] void refuse_record(const fs::path& place, const std::string& problem) {
  throw Error(ErrorKind::integrity,
              printable(place.string()) + ": " + problem,
              "the crate was damaged or changed; ask for it again");
}

/// Whether a text has the form of a run's id: it is shown, and names a folder.
bool is_run_id(std::string_view id) {
  constexpr std::size_t longest = 128;
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  return !id.empty() && id.size() <= longest && id[0] != '.' && id[0] != '-' &&
         id.find_first_not_of(letters) == std::string_view::npos;
}

/// The quote that is open at a place of a shell's text; 0 for none.
char quote_at(std::string_view text, std::size_t place) {
  char quote = 0;
  for (std::size_t i = 0; i < place; ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
  }
  return quote;
}

/// The path that begins a shell's text, as the shell reads it: without quotes and backslashes.
std::string path_in_shell(std::string_view text, char quote) {
  std::string path;
  for (const char c : text) {
    const bool is_quote = c == '"' || c == '\'';
    if (quote == 0 && std::string_view(" \t\r\n;|&<>()").find(c) != std::string_view::npos) break;
    if (is_quote && (quote == 0 || quote == c)) {
      quote = quote == 0 ? c : '\0';
    } else if (c != '\\') {
      path += c;
    }
  }
  return path;
}

/// Whether a path leads out of the folder that it begins in.
bool leads_out(std::string_view path) {
  int depth = 0;
  for (const std::string& name : base::split(path, '/')) {
    if (name == ".") continue;
    depth += name == ".." ? -1 : 1;
    if (depth < 0) return true;
  }
  return false;
}

void refuse_word_outside(const spec::Recipe& recipe,
                         const spec::Stage& stage,
                         const std::string& word) {
  for (const std::string_view begin : {"{recipe}", "{code}"}) {
    for (auto at = word.find(begin); at != std::string::npos; at = word.find(begin, at + 1)) {
      const std::string_view rest = std::string_view(word).substr(at + begin.size());
      const bool is_out =
          leads_out(path_in_shell(rest, quote_at(word, at))) || (!stage.shell && leads_out(rest));
      if (!is_out) continue;
      throw Error(ErrorKind::usage,
                  "recipe '" + recipe.name + "': stage '" + stage.name +
                      "' names a file outside of its folder: " + printable(word),
                  "such a run cannot be repeated elsewhere");
    }
  }
}

/// A recipe of a stranger stays in its folder.
void refuse_outside(const spec::Recipe& recipe) {
  for (const spec::Stage& stage : recipe.stages) {
    for (const std::string& word : stage.run)
      refuse_word_outside(recipe, stage, word);
    for (const auto& [name, value] : stage.variables)
      refuse_word_outside(recipe, stage, value);
  }
}

void add_part(std::string& line, const char* title, const std::vector<std::string>& items) {
  if (!items.empty()) line += std::string(", ") + title + base::joined(items, " ");
}

std::string layer_line(const spec::LayerSpec& layer) {
  std::string line = layer.name + ": " + std::string(spec::to_string(layer.kind));
  if (!layer.origin.git.empty()) line += ", " + layer.origin.git + " at " + layer.origin.ref;
  if (!layer.origin.archive.empty()) line += ", " + layer.origin.archive;
  if (!layer.container.image.empty()) line += ", " + layer.container.image;
  add_part(line, "", layer.packages.requirements);
  add_part(line, "files ", layer.packages.requirement_files);
  add_part(line, "channels ", layer.packages.channels);
  add_part(line, "built from source ", layer.packages.from_source);
  add_part(line, "modules ", layer.modules);
  add_part(line, "patches ", layer.patches);
  if (!layer.build.empty()) line += ", " + layer.build;
  for (const auto& step : layer.steps)
    add_part(line, "step ", step);
  for (const auto& [name, value] : layer.variables)
    line += ", " + name + "=" + value;
  return line;
}

/// Addresses of an asset; of many, their folders.
std::vector<std::string> sources_of(const spec::Asset& asset) {
  std::vector<std::string> sources;
  if (asset.generate) sources.push_back("the recipe '" + asset.generate->recipe + "'");
  if (!asset.list.empty()) sources.push_back(asset.list);
  if (!asset.base.empty()) sources.push_back(asset.base);
  if (asset.code && !asset.code->git.empty())
    sources.push_back(asset.code->git + " at " + asset.code->commit);
  for (const auto* files : {&asset.files, &asset.manifest})
    for (const spec::AssetFile& file : *files)
      sources.insert(sources.end(), file.sources.begin(), file.sources.end());
  if (sources.size() <= most_sources) return sources;
  std::set<std::string> folders;
  for (const std::string& source : sources)
    folders.insert(source.substr(0, source.rfind('/') + 1));
  return {folders.begin(), folders.end()};
}

}  // namespace

spec::RunRecord checked_record(const fs::path& place, const fs::path& run) {
  const home::RunFiles files(run);
  auto record = files.read_record();
  if (!record) refuse_record(place, "has no record that can be read");
  const spec::RunPlan plan = files.read_plan();
  if (plan.run_id != record->run_id)
    refuse_record(place, "its plan and its record are of two runs");
  if (plan.recipe_text != record->recipe_text)
    refuse_record(place, "its plan and its record have two recipes");
  if (!is_run_id(record->run_id))
    refuse_record(place, "'" + printable(record->run_id) + "' is not the id of a run");
  for (const spec::PlannedInput& input : record->inputs)
    if (!base::is_safe_name(input.asset) || !base::is_safe_name(input.role))
      refuse_record(place, "'" + printable(input.asset) + "' is not the name of an input");
  const spec::Recipe recipe = spec::parse_recipe(record->recipe_text, "recipe.json");
  refuse_outside(recipe);
  if (recipe.digest() != record->recipe_digest)
    refuse_record(place, "its recipe is not the one of the record's digest");
  // What a reader looks at is what would be executed.
  const auto shown = base::read_file_if_exists(run.parent_path() / "recipe.json");
  if (shown && *shown != record->recipe_text)
    refuse_record(place, "its recipe.json is not the recipe of the record");
  home::require_unchanged_outputs(files, *record);
  return *std::move(record);
}

void describe_run(const spec::RunRecord& record, const fs::path& assets, ImportedRun& run) {
  const spec::Recipe recipe = spec::parse_recipe(record.recipe_text, "recipe.json");
  for (const spec::LayerSpec& layer : recipe.environment.layers)
    run.layers.push_back(layer_line(layer));
  for (const spec::Stage& stage : recipe.stages) {
    run.commands.push_back(stage.name + ": " + base::joined(stage.run, " "));
    for (const auto& [name, value] : stage.variables)
      run.commands.push_back(stage.name + ": with " + name + "=" + value);
  }
  for (const auto& [name, value] : record.parameters)
    run.parameters.push_back(name + " = " + spec::to_string(value));
  if (record.seed.value) run.parameters.push_back("seed = " + std::to_string(*record.seed.value));
  for (const fs::path& file : json_files(assets)) {
    const spec::Asset asset = spec::parse_asset(base::read_file(file), file.filename().string());
    const auto sources = sources_of(asset);
    for (const std::string& source : sources)
      run.sources.push_back(asset.name + " from " + source);
    if (sources.empty()) run.sources.push_back(asset.name + " from nowhere");
  }
}

}  // namespace sabath::sharing
