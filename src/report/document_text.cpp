#include <sabath/base/process/program.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/document_text.hpp>
#include <sabath/report/shown_numbers.hpp>
#include <sabath/spec/script_recipe.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::report {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between = ", ") {
  return fmt::format("{}", fmt::join(words, between));
}

std::string range_of(const spec::Parameter& parameter) {
  if (!parameter.values.empty()) return joined(parameter.values, " | ");
  const auto number = [](double value) { return report::number_text(value); };
  if (parameter.min && parameter.max)
    return number(*parameter.min) + " .. " + number(*parameter.max);
  if (parameter.min) return ">= " + number(*parameter.min);
  if (parameter.max) return "<= " + number(*parameter.max);
  return "";
}

std::vector<std::string> conditions_of(const spec::ValueLists& when) {
  std::vector<std::string> conditions;
  for (const auto& [name, values] : when) {
    std::vector<std::string> words;
    for (const spec::ParameterValue& value : values)
      words.push_back(spec::shown_text(spec::to_string(value)));
    conditions.push_back("when " + name + " is " + joined(words, " | "));
  }
  return conditions;
}

/// When a stage is due, and what else is its own.
std::string terms_of(const spec::Stage& stage) {
  std::vector<std::string> terms = conditions_of(stage.when);
  if (!stage.variant.empty()) terms.push_back("variant " + stage.variant);
  if (stage.retry) terms.push_back(std::to_string(stage.retry->times + 1) + " tries");
  return joined(terms);
}

std::string stages_text(const spec::Recipe& recipe) {
  const bool has_tasks = !spec::tasks_of(recipe).empty();
  std::vector<base::TextTable::Column> columns{"stage", "needs", "cached", "outputs", ""};
  if (has_tasks) columns.insert(columns.begin() + 1, "task");
  base::TextTable stages(columns);
  for (const spec::Stage& stage : recipe.stages) {
    std::vector<std::string> cells{stage.name,
                                   joined(stage.needs),
                                   stage.cache ? "yes" : "",
                                   joined(stage.outputs),
                                   terms_of(stage)};
    if (has_tasks) cells.insert(cells.begin() + 1, stage.task);
    stages.add(std::move(cells));
  }
  return stages.text();
}

std::string metrics_text(const spec::Recipe& recipe) {
  base::TextTable metrics({"metric", "unit", "better", "kind", ""});
  for (const spec::MetricSpec& metric : recipe.metrics) {
    const auto judge = metric.judge.label();
    metrics.add({metric.name,
                 metric.unit,
                 std::string(spec::to_string(metric.better)),
                 metric.performance ? "performance"
                 : judge            ? "result, judged by " + *judge
                                    : "result",
                 metric.description});
  }
  return metrics.empty() ? "" : "\n" + metrics.text();
}

std::string files_text(const std::vector<spec::AssetFile>& files) {
  constexpr std::size_t shown = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, files.size()); ++i) {
    const spec::AssetFile& file = files[i];
    std::string what = file.path;
    if (file.size_bytes) what += "  " + base::format_bytes(*file.size_bytes);
    if (!file.unpack.empty()) what += "  unpacked as " + file.unpack;
    text += label_line("file", what);
    for (const base::Digest& digest : file.digests)
      text += label_line("", digest.text());
    for (const std::string& source : file.sources)
      text += label_line("", source);
  }
  if (files.size() > shown) {
    text += label_line("", "and " + std::to_string(files.size() - shown) + " more files");
  }
  return text;
}

std::string origin_text(const spec::Asset& asset) {
  std::string text;
  if (asset.generate) {
    text += label_line("made by",
                       "stage " + asset.generate->stage + " of recipe " + asset.generate->recipe);
  }
  if (asset.code)
    text +=
        label_line("code", asset.code->git) +
        label_line("", asset.code->open.empty() ? asset.code->commit : "open: " + asset.code->open);
  text += files_text(asset.files) + label_line("list", asset.list) + label_line("base", asset.base);
  if (asset.limit) text += label_line("limit", base::counted(*asset.limit, "file"));
  return text + files_text(asset.manifest);
}

std::string argument_text(const spec::ScriptArgument& argument) {
  const spec::Parameter& parameter = argument.parameter;
  if (argument.must_be_given) return "--arg " + parameter.name + "=...";
  const std::string range = range_of(parameter);
  return "[--arg " + parameter.name + "=" + spec::to_string(parameter.default_value) + "]" +
         (range.empty() ? "" : "  " + range) +
         (parameter.description.empty() ? "" : "  " + parameter.description);
}

/// With all that can be said to them, those that they need included.
std::string scripts_text(const spec::Asset& asset) {
  std::string text;
  for (const spec::AssetScript& script : asset.scripts) {
    text += label_line(
        "script", script.name + (script.needs.empty() ? "" : ", after ") + joined(script.needs));
    text +=
        label_line("", script.description) + label_line("", base::shown_command(script.command));
    for (const spec::ScriptArgument& argument : spec::arguments_of(asset, script.name))
      text += label_line("", argument_text(argument));
    if (!script.outputs.empty()) text += label_line("", "makes " + joined(script.outputs));
  }
  if (!text.empty()) {
    text += label_line("apply",
                       "sabath fetch " + asset.name + " --apply " + asset.scripts.front().name);
  }
  return text;
}

}  // namespace

std::string label_line(std::string_view label, const std::string& text) {
  if (text.empty()) return "";
  std::string padded(label);
  padded.resize(14, ' ');
  return padded + base::printable(text) + "\n";
}

std::string recipe_text(const spec::Recipe& recipe) {
  std::string text = label_line("recipe", recipe.name) + label_line("", recipe.description) +
                     label_line("model", recipe.model) +
                     label_line("folder", recipe.directory.string()) +
                     label_line("digest", recipe.digest().text());
  for (const auto& [role, choices] : recipe.datasets) {
    for (const auto& [asset, when] : choices)
      text += label_line(
          "data", role + ": " + asset + (when.empty() ? "" : ", " + joined(conditions_of(when))));
  }
  if (const auto& file = recipe.parameter_file)
    text +=
        label_line("parameters", file->file + " (" + file->format + "), read by run --parameters");
  base::TextTable parameters({"parameter", "default", "allowed", "affects", ""});
  for (const spec::Parameter& parameter : recipe.parameters) {
    parameters.add({parameter.name,
                    spec::shown_text(spec::to_string(parameter.default_value)),
                    range_of(parameter),
                    parameter.affects_result ? "result" : "execution",
                    parameter.description});
  }
  if (!parameters.empty()) text += "\n" + parameters.text();
  text += "\n" + stages_text(recipe);
  base::TextTable studies({"study", "varies", "seeds", "repeat"});
  for (const auto& [name, study] : recipe.studies) {
    std::vector<std::string> varied;
    for (const auto* lists : {&study.matrix, &study.zip}) {
      for (const auto& [parameter, values] : *lists)
        varied.push_back(parameter);
    }
    const std::string seeds = study.seeds.empty() ? "" : std::to_string(study.seeds.size());
    studies.add({name, joined(varied), seeds, std::to_string(study.repeat)});
  }
  if (!studies.empty()) text += "\n" + studies.text();
  return text + metrics_text(recipe);
}

std::string asset_text(const spec::Asset& asset) {
  std::string text =
      label_line(spec::to_string(asset.kind), asset.name) + label_line("version", asset.version) +
      label_line("title", asset.title) + label_line("", asset.description) +
      label_line("license", asset.license) + label_line("citation", asset.citation) +
      label_line("homepage", asset.homepage) + label_line("identifier", asset.identifier) +
      label_line("task", asset.task) + label_line("framework", asset.framework) +
      label_line("format", asset.format) + label_line("keywords", joined(asset.keywords)) +
      label_line("withdrawn", asset.withdrawn);
  if (asset.access.policy != "open") {
    text += label_line("access", asset.access.policy);
    for (const std::string& step : asset.access.steps)
      text += label_line("", step);
  }
  return text + origin_text(asset) + scripts_text(asset);
}

}  // namespace sabath::report
