#include "script_facts.hpp"
#include "sources.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/drafts/recipe_draft.hpp>
#include <sabath/spec/recipe.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <set>

namespace sabath::drafts {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using nlohmann::json;
using nlohmann::ordered_json;

/// The parts of a document, while they are found.
struct Parts {
  std::vector<std::string> argv{};
  ordered_json parameters = ordered_json::object();
  ordered_json metrics = ordered_json::object();
  ordered_json requirements = ordered_json::array();
  std::vector<std::string> outputs{};
  std::vector<std::string> guesses{};
};

bool has_mark(std::string text, std::initializer_list<std::string_view> marks) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(
      marks, [&](std::string_view mark) { return text.find(mark) != std::string::npos; });
}

/// "--learning-rate" -> "learning_rate"
std::string parameter_name(const std::string& option) {
  std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::tolower(c));
  });
  return name;
}

/// The value that the text of a command line has; null where it has another type.
ordered_json value_of(const std::string& type, const std::string& text) {
  ordered_json parsed = ordered_json::parse(text, nullptr, false);
  if (type == "int" && parsed.is_number_integer()) return parsed;
  if (type == "float" && parsed.is_number()) return parsed.get<double>();
  if (type == "int" || type == "float") return nullptr;
  return text;
}

/// Arguments of a run: options with their values, and what is left.
class GivenArguments {
 public:
  explicit GivenArguments(std::vector<std::string> words) : words_(std::move(words)) {}

  /// Takes the value that was given for one of the names.
  std::optional<std::string> take(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (const std::string& name : names) {
        if (words_[i] == name && i + 1 < words_.size()) {
          std::string value = words_[i + 1];
          erase(i, 2);
          return value;
        }
        if (words_[i].starts_with(name + "=")) {
          std::string value = words_[i].substr(name.size() + 1);
          erase(i, 1);
          return value;
        }
      }
    }
    return std::nullopt;
  }
  const std::vector<std::string>& rest() const { return words_; }

 private:
  void erase(std::size_t at, std::size_t count) {
    const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(at);
    words_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  std::vector<std::string> words_;
};

/// A file that the script writes goes to the stage's outputs.
void add_output(const std::string& option, const std::string& value, Parts& parts) {
  const std::string file = fs::path(value).filename().string();
  const bool is_file = fs::path(value).has_extension() && base::is_safe_relative_path(file);
  parts.argv.insert(parts.argv.end(),
                    {option, is_file ? "{output}/" + as_template(file) : "{output}"});
  if (is_file) parts.outputs.push_back(file);
  parts.guesses.push_back(fmt::format("{} names what the script writes: it goes to {{output}}{}",
                                      option,
                                      is_file ? ", and is a declared output" : ""));
}

void add_parameter(const json& argument,
                   const std::string& option,
                   ordered_json value,
                   Parts& parts) {
  const std::string type = argument["type"] == "int" || argument["type"] == "float"
                               ? argument["type"].get<std::string>()
                               : "string";
  const std::string name = parameter_name(option);
  if (value.is_null()) {
    value = type == "string" ? ordered_json("")
            : type == "int"  ? ordered_json(1)
                             : ordered_json(1.0);
    parts.guesses.push_back(fmt::format(
        "parameter {}: the script has no default, and {} is only a stand-in", name, value.dump()));
  }
  if (type == "string" && !value.is_string()) value = value.dump();
  ordered_json parameter = {{"type", type}, {"default", value}};
  const auto choices = argument["choices"].get<std::vector<std::string>>();
  if (std::ranges::find(choices, value.is_string() ? value.get<std::string>() : "") !=
      choices.end()) {
    parameter["type"] = "enum";
    parameter["values"] = choices;
  }
  if (const auto help = argument["help"].get<std::string>(); !help.empty())
    parameter["description"] = help;
  parts.parameters[name] = parameter;
  parts.argv.insert(parts.argv.end(), {option, "{param." + name + "}"});
}

void add_argument(const json& argument, GivenArguments& given, Parts& parts) {
  const auto names = argument["names"].get<std::vector<std::string>>();
  const std::string& option = *std::ranges::max_element(names, {}, &std::string::size);
  if (!option.starts_with('-') || !argument["plain"].get<bool>()) return;  // stays a word
  const std::optional<std::string> text = given.take(names);
  if (has_mark(option, {"seed"})) {
    parts.argv.insert(parts.argv.end(), {option, "{seed}"});
    parts.guesses.push_back(option + " gets the seed of the run");
    return;
  }
  const json& standard = argument["default"];
  const bool has_path = text || (standard.is_string() && !standard.get<std::string>().empty());
  if (has_mark(option, {"out", "save", "dest"}) && (has_path || standard.is_string())) {
    if (has_path) {
      add_output(option, text ? *text : standard.get<std::string>(), parts);
    } else {
      parts.guesses.push_back(option + " is left out: by default it writes nothing");
    }
    return;
  }
  if (!base::is_safe_name(parameter_name(option))) {
    if (text) parts.argv.insert(parts.argv.end(), {option, as_template(*text)});
    return;
  }
  if (!text && standard.is_null()) return;  // optional, and nobody gave it
  const std::string type = argument["type"].get<std::string>();
  add_parameter(argument, option, text ? value_of(type, *text) : ordered_json(standard), parts);
}

void add_packages(const json& facts, Parts& parts) {
  for (const json& one : facts["requirements"]) {
    parts.requirements.push_back(one[0].get<std::string>());
    parts.guesses.push_back(
        fmt::format("package {}: from {}", one[0].get<std::string>(), one[1].get<std::string>()));
  }
  for (const json& one : facts["unpinned"]) {
    parts.requirements.push_back(one.get<std::string>());
    parts.guesses.push_back(fmt::format(
        "package {}: no version is known; 'sabath env lock' chooses one", one.get<std::string>()));
  }
  for (const json& one : facts["unknown"])
    parts.guesses.push_back(
        fmt::format("import {}: no installed package has it; add its package to the requirements",
                    one.get<std::string>()));
}

/// Names with a number behind them, as `key_value` reads them: "loss: 3", "loss 0.5".
std::set<std::string> names_in_log(const std::string& log) {
  static const std::regex pattern(
      "([A-Za-z_][A-Za-z0-9_]*)(\\s*[:=]\\s*[-+]?[0-9.]+|[ \\t]+[-+]?[0-9]+\\.[0-9])");
  std::set<std::string> names;
  const std::string end = log.substr(log.size() - std::min<std::size_t>(log.size(), 64U << 10U));
  for (std::sregex_iterator at(end.begin(), end.end(), pattern), none; at != none; ++at)
    names.insert((*at)[1]);
  return names;
}

void add_metrics(const DraftRequest& request, const json& facts, Parts& parts) {
  std::set<std::string> printed = names_in_log(request.log);
  if (request.log.empty() && facts.contains("printed"))
    printed = facts["printed"].get<std::set<std::string>>();
  for (const char* const name : {"epoch",
                                 "step",
                                 "iter",
                                 "iteration",
                                 "seed",
                                 "in",
                                 "took",
                                 "after",
                                 "at",
                                 "of",
                                 "to",
                                 "is",
                                 "version",
                                 "about",
                                 "with",
                                 "and",
                                 "from",
                                 "by"})
    printed.erase(name);
  const auto add = [&](const std::string& name, const char* from) {
    if (!base::is_safe_name(name) || parts.metrics.contains(name)) return;
    const bool is_time = has_mark(name, {"time", "second"});
    const bool is_higher = has_mark(name, {"acc", "f1", "auc", "score", "precision", "recall"});
    ordered_json metric = {{"from", from}, {"unit", is_time ? "s" : "1"}};
    metric["better"] = is_higher ? "higher" : "lower";
    if (is_time) metric["kind"] = "performance";
    parts.metrics[name] = metric;
    parts.guesses.push_back(fmt::format("metric {}: {} is better, unit {}",
                                        name,
                                        is_higher ? "higher" : "lower",
                                        is_time ? "s" : "1"));
  };
  for (const std::string& name : request.metrics)
    add(name, "jsonl");
  for (const std::string& name : printed)
    add(name, "key_value");
}

void note_written(const DraftRequest& request, Parts& parts) {
  for (const std::string& file : request.written) {
    if (std::ranges::find(parts.outputs, fs::path(file).filename().string()) != parts.outputs.end())
      continue;
    parts.guesses.push_back(fmt::format(
        "the run wrote {}: give the script an option for its path, and use {{output}} there",
        file));
  }
}

ordered_json document_of(const std::string& name, const std::string& script, const Parts& parts) {
  ordered_json document = {
      {"schema", 1},
      {"name", name},
      {"description", "drafted by sabath init of " + script + "; see README.md"}};
  if (!parts.requirements.empty()) {
    const ordered_json layer = {{"kind", "pip"},
                                {"name", "python"},
                                {"requirements", parts.requirements},
                                {"commands", ordered_json::array({"python"})}};
    document["environment"] = {{"layers", ordered_json::array({layer})}};
  }
  if (!parts.parameters.empty()) document["parameters"] = parts.parameters;
  document["seed"] = {{"environment", ordered_json::array({"SABATH_SEED"})}};
  ordered_json stage = {{"name", "run"}, {"run", parts.argv}};
  if (!parts.outputs.empty()) stage["outputs"] = parts.outputs;
  document["stages"] = ordered_json::array({stage});
  if (!parts.metrics.empty()) document["metrics"] = parts.metrics;
  return document;
}

std::string readme_of(const std::string& name, const std::string& script, const Parts& parts) {
  std::string text = "# " + name + "\n\nA recipe for sabath, drafted of `" + script +
                     "` by `sabath init`.\n\n## Guessed: look at each of these\n\n";
  for (const std::string& guess : parts.guesses)
    text += "- " + guess + "\n";
  if (parts.guesses.empty()) text += "Nothing.\n";
  return text +
         "\n## Next\n\n    sabath validate .\n    sabath run . --dry-run\n    sabath run . --seed "
         "1\n";
}

}  // namespace

RecipeDraft draft_recipe(const DraftRequest& request,
                         base::ProcessRunner& processes,
                         const std::stop_token& stop) {
  const std::string shown = base::printable(request.script.string());
  if (request.script.extension() == ".ipynb") {
    throw Error(ErrorKind::usage,
                shown + ": is a notebook, and a recipe runs scripts",
                "'jupyter nbconvert --to script " + shown + "' makes a script of it");
  }
  const bool is_python = request.script.extension() == ".py";
  Parts parts;
  json facts = json::object();
  if (is_python)
    facts = script_facts(request.folder / request.script, request.folder, processes, stop);
  if (is_python) add_packages(facts, parts);
  const std::string code = "{code}/" + as_template(request.script.string());
  if (is_python) {
    parts.argv = {parts.requirements.empty() ? "python3" : "{env}/bin/python", code};
  } else {
    parts.argv = {request.script.extension() == ".R" ? "Rscript" : "bash", code};
    parts.guesses.push_back("the script is started by " + parts.argv.front());
  }
  GivenArguments given(request.arguments);
  for (const json& argument : facts.value("arguments", json::array()))
    add_argument(argument, given, parts);
  for (const std::string& word : given.rest())
    parts.argv.push_back(as_template(word));
  if (!given.rest().empty())
    parts.guesses.push_back(
        fmt::format("words beside the parameters: {}", fmt::join(given.rest(), " ")));
  add_metrics(request, facts, parts);
  note_written(request, parts);

  RecipeDraft draft;
  draft.name = recipe_name_of(request.name.empty() ? request.script.stem().string() : request.name);
  draft.document = document_of(draft.name, shown, parts).dump(2) + "\n";
  spec::parse_recipe(draft.document, "the draft");
  draft.readme = readme_of(draft.name, shown, parts);
  draft.guesses = parts.guesses;
  draft.folder = request.folder;
  std::set<fs::path> sources{request.script};
  for (const fs::path& source : sources_beneath(request.folder))
    sources.insert(source);
  for (const fs::path& named : named_scripts(request.arguments, request.folder))
    sources.insert(named);
  draft.sources.assign(sources.begin(), sources.end());
  return draft;
}

std::string json_of(const RecipeDraft& draft, const fs::path& folder) {
  const ordered_json answer = {
      {"name", draft.name}, {"folder", folder.string()}, {"guesses", draft.guesses}};
  return answer.dump(2) + "\n";
}

}  // namespace sabath::drafts
