#include "sources.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/program.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/drafts/command_recipe.hpp>
#include <sabath/spec/script_recipe.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace sabath::drafts {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Digits of a digest that tell two scripts apart.
constexpr std::size_t shown_digits = 32;

ordered_json fixed_text(const std::string& value, const std::string& description) {
  return {{"type", "string"}, {"default", value}, {"description", description}};
}

}  // namespace

CommandRecipe command_recipe(const std::vector<std::string>& words, const fs::path& folder) {
  const std::vector<fs::path> scripts = named_scripts(words, folder);
  CommandRecipe recipe;
  recipe.name = recipe_name_of(scripts.empty() ? fs::path(words.front()).filename().string()
                                               : scripts.front().stem().string());
  const std::string words_name(spec::words_parameter);
  ordered_json parameters = {{words_name, fixed_text(base::quote_command(words), "the command")}};
  std::vector<std::string> fixed{words_name};
  for (const fs::path& script : scripts) {
    std::string name(spec::script_parameter);
    if (fixed.size() > 1) name += std::to_string(fixed.size());
    const std::string digest = base::digest_file(folder / script).hex.substr(0, shown_digits);
    parameters[name] = fixed_text(script.string() + " " + digest, "a file that the command names");
    fixed.push_back(name);
  }
  std::vector<std::string> argv;
  for (const std::string& word : words)
    argv.push_back(as_template(word));
  const ordered_json stage = {{"name", std::string(spec::command_stage)},
                              {"run", argv},
                              {"variables", {{"PYTHONUNBUFFERED", "1"}}}};
  const ordered_json document = {
      {"schema", 1},
      {"name", recipe.name},
      {"description",
       "a command without a recipe: it ran in the user's folder and session, not isolated"},
      {"parameters", parameters},
      {"fixed", fixed},
      {"seed", {{"environment", ordered_json::array({"SABATH_SEED"})}}},
      {"stages", ordered_json::array({stage})}};
  recipe.document = document.dump(2) + "\n";
  std::set<fs::path> sources(scripts.begin(), scripts.end());
  for (fs::path& source : sources_beneath(folder))
    sources.insert(std::move(source));
  recipe.sources.assign(sources.begin(), sources.end());
  return recipe;
}

void write_command_recipe(const CommandRecipe& recipe,
                          const fs::path& folder,
                          const fs::path& place) {
  base::write_file_atomically(place / "recipe.json", recipe.document);
  for (const fs::path& source : recipe.sources) {
    const fs::path copy = place / "code" / source;
    base::make_directories(copy.parent_path());
    base::write_file_atomically(copy, base::read_file(folder / source));
  }
}

}  // namespace sabath::drafts
