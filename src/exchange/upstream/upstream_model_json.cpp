#include "upstream/upstream_model_json.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/asset_names.hpp>
#include <sabath/spec/package_lock.hpp>
#include <sabath/spec/recipe.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace sabath::exchange {
namespace {

using base::JsonReader;
using base::printable;
using nlohmann::json;
using nlohmann::ordered_json;

struct Experiment {
  std::string name{};
  std::vector<std::string> lines{};
  const UpstreamData* data = nullptr;
};

/// Ids of fragments that the lines of an experiment name.
std::set<std::string> ids_in(const std::vector<std::string>& lines) {
  std::set<std::string> ids;
  for (const std::string& line : lines) {
    for (auto at = line.find("{dataset."); at != std::string::npos;
         at = line.find("{dataset.", at + 1)) {
      const auto begin = at + std::string_view("{dataset.").size();
      const std::string word = line.substr(begin, line.find('}', begin) - begin);
      ids.insert(word.ends_with(".dir") ? word.substr(0, word.size() - 4) : word);
    }
  }
  return ids;
}

std::string letters_of(const std::string& text) {
  std::string letters;
  for (const char c : base::lower_case(text))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
  return letters;
}

/// The data set of an experiment: the one that it is called after, else the one that has all
/// fragments that its lines name, preferably with the model's name.
const UpstreamData* data_for(const Experiment& experiment,
                             const std::string& model,
                             const std::vector<UpstreamData>& all) {
  for (const UpstreamData& data : all)
    if (data.file == experiment.name) return &data;
  const auto ids = ids_in(experiment.lines);
  const UpstreamData* found = nullptr;
  for (const UpstreamData& data : all) {
    const bool has_all = !ids.empty() && std::ranges::all_of(ids, [&](const std::string& id) {
      return data.paths.contains(id);
    });
    const bool is_named = letters_of(data.file).starts_with(letters_of(model));
    if (has_all && (is_named || found == nullptr)) {
      if (is_named) return &data;
      found = &data;
    }
  }
  return found;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// A line with the placeholders of sabath. Other braces are doubled, so that they stay.
std::string translated(const std::string& line, const Experiment& experiment) {
  std::string out;
  for (const char c : line)
    out += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
  replace_all(out, "{{source}}", "{output}/source");
  replace_all(out, "{{dataset}}", "{dataset.data}");
  if (experiment.data != nullptr) {
    for (const auto& [id, path] : experiment.data->paths) {
      replace_all(out, "{{dataset." + id + ".dir}}", "{dataset.data}");
      replace_all(
          out, "{{dataset." + id + "}}", "{dataset.data}" + (path.empty() ? "" : "/" + path));
    }
  }
  return out;
}

std::vector<Experiment> read_experiments(JsonReader reader) {
  std::vector<Experiment> experiments;
  for (auto& [name, lines] : reader.members())
    experiments.push_back({name, lines.strings(), nullptr});
  return experiments;
}

/// Layers of the environment: modules, then packages.
ordered_json environment_of(JsonReader requirements, JsonReader variables, ImportedAsset& model) {
  ordered_json layers = ordered_json::array();
  const auto modules = requirements.optional("system_modules").strings();
  if (!modules.empty())
    layers.push_back({{"kind", "modules"}, {"name", "site"}, {"modules", modules}});
  ordered_json packages = ordered_json::array();
  json refused = json::array();
  for (const std::string& line : requirements.optional("pip").strings()) {
    if (spec::required_package(line)) {
      packages.push_back(line);
    } else {
      refused.push_back(line);
      model.notes.push_back("requirement '" + printable(line) +
                            "' is not one that pip reads: kept");
    }
  }
  if (!packages.empty())
    layers.push_back({{"kind", "pip"}, {"name", "python"}, {"requirements", packages}});
  if (layers.empty())
    layers.push_back({{"kind", "host"}, {"name", "tools"}, {"commands", {"bash"}}});
  if (!refused.empty()) keep_upstream(model.asset, "requirements", refused);
  const std::string python = requirements.optional("python").string();
  if (!python.empty()) {
    keep_upstream(model.asset, "python", python);
    model.notes.push_back("python '" + printable(python) +
                          "' is kept; the layer takes python3 of PATH");
  }
  for (auto& [name, value] : variables.members())
    layers[0]["variables"][name] = value.string();
  return {{"layers", layers}};
}

ordered_json datasets_of(const std::vector<Experiment>& experiments, const std::string& source) {
  ordered_json data = ordered_json::array();
  for (const Experiment& one : experiments) {
    if (one.data == nullptr) continue;
    const std::string& name = one.data->imported.asset.name;
    if (experiments.size() == 1) return {{"data", name}, {"source", source}};
    data.push_back({{"asset", name}, {"when", {{"experiment", one.name}}}});
  }
  if (data.empty()) return {{"source", source}};
  return {{"data", data}, {"source", source}};
}

ordered_json stage_of(const Experiment& experiment, bool is_one_of_several) {
  std::string shell =
      "set -e\ncp -R {dataset.source} {output}/source\nchmod -R u+w {output}/source\n";
  for (const std::string& line : experiment.lines)
    shell += translated(line, experiment) + "\n";
  ordered_json stage = {{"name", asset_name_of(experiment.name)}};
  if (is_one_of_several) stage["when"] = {{"experiment", experiment.name}};
  stage["run"] = {{"shell", shell}};
  return stage;
}

void note_placeholders(const std::vector<Experiment>& experiments, ImportedAsset& model) {
  for (const Experiment& one : experiments) {
    if (one.data == nullptr && !ids_in(one.lines).empty()) {
      model.notes.push_back("experiment '" + printable(one.name) +
                            "': its data set is not among the documents; add the role 'data'");
    }
  }
}

std::string recipe_of(const spec::Asset& asset,
                      const std::vector<Experiment>& experiments,
                      const ordered_json& environment) {
  ordered_json recipe = {{"schema", 1},
                         {"name", asset.name},
                         {"description", asset.title + ", as the Python SABATH runs it"},
                         {"model", asset.name},
                         {"datasets", datasets_of(experiments, asset.name + "-source")},
                         {"environment", environment}};
  if (experiments.size() > 1) {
    ordered_json names = ordered_json::array();
    for (const Experiment& one : experiments)
      names.push_back(one.name);
    recipe["parameters"]["experiment"] = {
        {"type", "enum"}, {"values", names}, {"default", names[0]}};
  }
  recipe["stages"] = ordered_json::array();
  for (const Experiment& one : experiments)
    recipe["stages"].push_back(stage_of(one, experiments.size() > 1));
  return base::pretty_json(recipe);
}

/// Pins code whose document names no commit, or says why it stays open.
void pin_code(spec::CodeSource& code,
              const std::string& reference,
              const CommitLookup& commit_of,
              ImportedAsset& model) {
  if (commit_of) code.commit = commit_of(code.git, reference);
  if (!code.commit.empty()) {
    model.notes.push_back("its code is pinned to the commit " + code.commit.substr(0, 12) + " of " +
                          (reference.empty() ? "HEAD" : printable(reference)));
    return;
  }
  code.open = "the document names no commit";
  model.notes.emplace_back(
      "its code has no commit: 'run' refuses it until an import pins it, with --commit or from "
      "its repository");
}

spec::CodeSource read_code(JsonReader git, const CodePin& pin, ImportedAsset& model) {
  static const base::Form form("[0-9a-fA-F]{40}");
  spec::CodeSource code;
  code.git = git.required("origin").string();
  const std::string stated = git.optional("commit").string();
  std::string reference;
  for (const auto& [name, beginning] :
       {std::pair{"branch", "refs/heads/"}, std::pair{"tag", "refs/tags/"}}) {
    if (const std::string text = git.optional(name).string(); !text.empty()) {
      keep_upstream(model.asset, name, text);
      model.notes.push_back(std::string(name) + " '" + printable(text) + "' is kept");
      reference = beginning + text;
    }
  }
  code.commit = form.matches(pin.commit) ? pin.commit : form.matches(stated) ? stated : "";
  if (code.commit.empty()) pin_code(code, reference, pin.commit_of, model);
  json others = json::object();
  for (auto& [name, value] : git.members()) {
    if (name == "origin" || name == "commit" || name == "tag" || name == "branch") continue;
    others[name] = value.json();
    model.notes.push_back("it needs '" + printable(name) +
                          "' too: add a layer 'source' to the recipe");
  }
  if (!others.empty()) keep_upstream(model.asset, "git", others);
  return code;
}

/// The tree of the commit as a data set, which a stage copies.
ImportedAsset source_of(const spec::Asset& model) {
  ImportedAsset source;
  source.asset.name = model.name + "-source";
  source.asset.title = "Code of " + model.title;
  source.asset.version = model.code->commit.substr(0, 12);
  source.asset.list = "git+" + model.code->git + "@" + model.code->commit;
  return source;
}

void read_references(JsonReader root, ImportedAsset& model) {
  json rest = json::array();
  for (const std::string& url : root.optional("references").strings()) {
    const auto doi = url.find("doi.org/");
    if (doi != std::string::npos && model.asset.identifier.empty()) {
      model.asset.identifier = url.substr(doi + 8);
      model.asset.citation = url;
    } else {
      rest.push_back(url);
    }
  }
  if (model.asset.citation.empty() && !rest.empty()) {
    model.asset.citation = rest[0].get<std::string>();
    rest.erase(0);
  }
  if (!rest.empty()) keep_upstream(model.asset, "references", rest);
}

}  // namespace

void add_upstream_model(JsonReader root,
                        const std::string& file,
                        const CodePin& pin,
                        const std::vector<UpstreamData>& data,
                        UpstreamImport& to) {
  ImportedAsset model;
  model.asset.kind = spec::AssetKind::model;
  keep_upstream_name(model.asset, file, root.optional("name").string());
  const std::string abstract = root.optional("abstract").string();
  const std::string description = root.optional("description").string();
  model.asset.description =
      abstract + (abstract.empty() || description.empty() ? "" : "\n\n") + description;
  model.asset.homepage = root.optional("homepage").string();
  read_references(root, model);
  model.asset.code = read_code(root.required("git"), pin, model);
  if (JsonReader forks = root.optional("forks"); forks.exists()) {
    keep_upstream(model.asset, "forks", forks.json());
    model.notes.emplace_back("its forks are kept");
  }
  auto experiments = read_experiments(root.optional("run"));
  for (Experiment& one : experiments)
    one.data = data_for(one, file, data);
  const ordered_json environment =
      environment_of(root.optional("requirements"), root.optional("env_vars"), model);
  note_placeholders(experiments, model);
  model.notes.emplace_back("no licence is stated");
  if (!experiments.empty())
    to.recipes.push_back({model.asset.name, recipe_of(model.asset, experiments, environment)});
  if (model.asset.code->open.empty()) to.assets.push_back(source_of(model.asset));
  to.assets.push_back(std::move(model));
}

}  // namespace sabath::exchange
