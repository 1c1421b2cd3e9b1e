#include "commands.hpp"
#include "commands/run/watching.hpp"
#include "selected_runs.hpp"
#include "show_points.hpp"

#include <sabath/analysis/study_outcome.hpp>
#include <sabath/analysis/whole_values.hpp>
#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/series_sink.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/batch/run_accounting.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/script_recipe.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <sys/ioctl.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

struct ShowOptions {
  std::string name{};
  bool libraries = false;
  std::string points{};
};

std::string line(std::string_view label, const std::string& text) {
  if (text.empty()) return "";
  std::string padded(label);
  padded.resize(14, ' ');
  return padded + base::printable(text) + "\n";
}

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

std::string recipe_text(const spec::Recipe& recipe) {
  std::string text = line("recipe", recipe.name) + line("", recipe.description) +
                     line("model", recipe.model) + line("folder", recipe.directory.string()) +
                     line("digest", recipe.digest().text());
  for (const auto& [role, choices] : recipe.datasets) {
    for (const auto& [asset, when] : choices)
      text += line("data",
                   role + ": " + asset + (when.empty() ? "" : ", " + joined(conditions_of(when))));
  }
  if (const auto& file = recipe.parameter_file)
    text += line("parameters", file->file + " (" + file->format + "), read by run --parameters");
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

std::string files_text(const std::vector<spec::AssetFile>& files) {
  constexpr std::size_t shown = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, files.size()); ++i) {
    const spec::AssetFile& file = files[i];
    std::string what = file.path;
    if (file.size_bytes) what += "  " + base::format_bytes(*file.size_bytes);
    if (!file.unpack.empty()) what += "  unpacked as " + file.unpack;
    text += line("file", what);
    for (const base::Digest& digest : file.digests)
      text += line("", digest.text());
    for (const std::string& source : file.sources)
      text += line("", source);
  }
  if (files.size() > shown) {
    text += line("", "and " + std::to_string(files.size() - shown) + " more files");
  }
  return text;
}

std::string origin_text(const spec::Asset& asset) {
  std::string text;
  if (asset.generate) {
    text +=
        line("made by", "stage " + asset.generate->stage + " of recipe " + asset.generate->recipe);
  }
  if (asset.code)
    text += line("code", asset.code->git) +
            line("", asset.code->open.empty() ? asset.code->commit : "open: " + asset.code->open);
  text += files_text(asset.files) + line("list", asset.list) + line("base", asset.base);
  if (asset.limit) text += line("limit", base::counted(*asset.limit, "file"));
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
    text += line("script",
                 script.name + (script.needs.empty() ? "" : ", after ") + joined(script.needs));
    text += line("", script.description) + line("", base::shown_command(script.command));
    for (const spec::ScriptArgument& argument : spec::arguments_of(asset, script.name))
      text += line("", argument_text(argument));
    if (!script.outputs.empty()) text += line("", "makes " + joined(script.outputs));
  }
  if (!text.empty()) {
    text += line("apply", "sabath fetch " + asset.name + " --apply " + asset.scripts.front().name);
  }
  return text;
}

std::string asset_text(const spec::Asset& asset) {
  std::string text = line(spec::to_string(asset.kind), asset.name) +
                     line("version", asset.version) + line("title", asset.title) +
                     line("", asset.description) + line("license", asset.license) +
                     line("citation", asset.citation) + line("homepage", asset.homepage) +
                     line("identifier", asset.identifier) + line("task", asset.task) +
                     line("framework", asset.framework) + line("format", asset.format) +
                     line("keywords", joined(asset.keywords)) + line("withdrawn", asset.withdrawn);
  if (asset.access.policy != "open") {
    text += line("access", asset.access.policy);
    for (const std::string& step : asset.access.steps)
      text += line("", step);
  }
  return text + origin_text(asset) + scripts_text(asset);
}

/// Of the terminal that the answer goes to; elsewhere as the page of a paper.
std::size_t answer_columns() {
  constexpr std::size_t usual = 100;
  constexpr std::size_t least = 40;
  struct winsize size {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
  return std::max<std::size_t>(size.ws_col, least);
}

/// What the scheduler that executed a run accounts for it.
std::string accounting_text(const std::optional<batch::RunAccounting>& accounting) {
  if (!accounting) return "";
  const launch::JobUse& use = accounting->use;
  std::string text = accounting->scheduler + " job " + accounting->job;
  if (use.elapsed_s) text += fmt::format(", {:.0f} s", *use.elapsed_s);
  if (use.max_rss_bytes) text += ", " + base::format_bytes(*use.max_rss_bytes) + " at most";
  if (use.energy_j) text += fmt::format(", {:.0f} J", *use.energy_j);
  return use.nodes.empty() ? text : text + ", on " + use.nodes;
}

/// Of the metrics that have a course. What cannot be read is not drawn: `compare` tells it. Neither
/// is what would take longer to read than anybody wants to wait.
std::map<std::string, report::Course> courses_of(const execution::CurrentRecord& current) {
  constexpr std::uint64_t most_points = 2'000'000;
  std::map<std::string, report::Course> courses;
  std::uint64_t points = 0;
  for (const spec::MetricSummary& metric : current.record.metrics)
    points += metric.points;
  std::error_code code;
  if (points > most_points || !std::filesystem::exists(current.series, code)) return courses;
  try {
    for (const spec::Series& series : arrays::read_series(current.series)) {
      report::Course& course = courses[series.stream + "/" + series.name];
      const bool has_steps = std::ranges::find(series.step, base::no_step) == series.step.end();
      for (std::size_t i = 0; i < series.size(); ++i)
        course.add(static_cast<double>(has_steps ? series.step[i] : static_cast<std::int64_t>(i)),
                   series.value[i]);
    }
  } catch (const base::Error&) {
    courses.clear();
  }
  return courses;
}

/// What was said of a run after its end: who and when.
std::string said_text(const std::vector<home::RunStatement>& said) {
  std::string text;
  for (const home::RunStatement& one : said) {
    const bool is_note = one.kind == home::RunStatement::Kind::note;
    const bool is_tag = one.kind == home::RunStatement::Kind::tag;
    const std::string label = is_note ? "note" : is_tag ? "tagged" : "untagged";
    std::string shown = base::redact(one.text);
    // Further lines of a note stand beneath its first one.
    for (std::size_t at = shown.find('\n'); at != std::string::npos; at = shown.find('\n', at + 1))
      shown.insert(at + 1, std::string(14, ' '));
    text += label + std::string(14 - label.size(), ' ') + base::printable(shown, true) + "  (" +
            base::printable(one.by) + ", " + base::printable(one.at) + ")\n";
  }
  return text;
}

/// What 'sabath status' would say: a run's files know nothing of its job.
void look_at_job(catalog::RunRow& row, Workspace& workspace) {
  const auto seen = watch(runs_to_watch({row.id}, workspace), workspace);
  seen->look(workspace.stop());
  keep_seen(*seen, workspace);
  row.state = seen->runs().front().state;
  row.message = seen->runs().front().detail;
}

int show_run(const ShowOptions& options, Workspace& workspace) {
  catalog::RunRow row = one_run(options.name, workspace);
  // An archived run is read from where it was unpacked for this command.
  const std::string place = chosen_runs(row.id, workspace).front().directory;
  const bool is_archived = home::is_archived(place);
  const auto said = home::read_statements(row.directory);
  const bool has_job = !row.batch.empty() && !spec::is_final(row.state);
  if (has_job) look_at_job(row, workspace);
  const home::RunFiles files(row.directory);
  if (const auto current = execution::read_current(files)) {
    if (!options.points.empty()) {
      workspace.answer(points_answer(current->series, options.points, workspace.json()));
      return exit_done;
    }
    batch::keep_accounting({{row.id, row.directory, row.batch, row.study, row.state, row.message}},
                           monitor_of(workspace),
                           workspace.observer(),
                           workspace.stop());
    std::string collection;
    if (current->collection > 0) {
      collection = std::to_string(current->collection) + ", made " + current->collected_at +
                   "; the metrics are its, and not the record's";
    }
    spec::WholeSummaries whole;
    try {
      whole = analysis::whole_values_of(current->record.metrics, current->series);
    } catch (const base::Error& error) {
      workspace.observer().warn(error.what(), "metrics are shown as doubles");
    }
    workspace.answer(
        workspace.json()
            ? json_answer(current->record, whole, said)
            : report::record_text(current->record,
                                  {options.libraries,
                                   answer_columns(),
                                   courses_of(*current),
                                   report::letters_of_locale(),
                                   whole}) +
                  line("collection", collection) +
                  line("scheduler", accounting_text(batch::read_accounting(row.directory))) +
                  said_text(said) + line(is_archived ? "archive" : "folder", place));
    return exit_done;
  }
  if (!options.points.empty()) {
    throw base::Error(base::ErrorKind::not_found,
                      "run " + row.id + ": has no points yet",
                      "points are collected when a run ends");
  }
  // Not finished, or lost: the plan and the status are what there is.
  if (workspace.json()) return answer_with(std::vector{row}, "", workspace);
  const spec::RunStatus status = files.read_status();
  const spec::RunState state = has_job ? row.state : status.state;
  workspace.answer(line("run", row.id) + line("state", std::string(spec::to_string(state))) +
                   line("stage", status.stage) + line("since", status.updated) +
                   line("", has_job ? row.message : status.message) + said_text(said) +
                   line("folder", row.directory));
  return exit_done;
}

/// A study by its whole id: no recipe, asset or run is called so.
bool show_study(const std::string& name, Workspace& workspace) {
  const auto ids = home::study_ids(workspace.folders().studies());
  if (std::ranges::find(ids, name) == ids.end()) return false;
  const home::StudyFiles files(workspace.folders().studies() / name);
  const auto outcome = analysis::look_at_study(files, workspace.folders());
  answer_with(outcome, live::study_text(outcome), workspace);
  return true;
}

/// "recipe" and "mnist" of "recipe:mnist"; an empty kind where none is given.
std::pair<std::string, std::string> kind_and_name(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string kind = text.substr(0, colon);
  if (kind != "recipe" && kind != "asset") return {"", text};
  return {kind, text.substr(colon + 1)};
}

std::string documents_json(const std::optional<spec::Recipe>& recipe,
                           const std::optional<spec::Asset>& asset) {
  if (!asset) return recipe->text;
  const std::string of_asset = json_answer(*asset);
  return recipe ? "{\"recipe\": " + recipe->text + ", \"asset\": " + of_asset + "}\n" : of_asset;
}

std::string documents_text(const std::optional<spec::Recipe>& recipe,
                           const std::optional<spec::Asset>& asset) {
  if (!asset) return recipe_text(*recipe);
  return recipe ? recipe_text(*recipe) + "\n" + asset_text(*asset) : asset_text(*asset);
}

/// Shows a recipe, an asset, or both where they have one name; false where there is none. `guess`
/// gets the nearest name.
bool show_documents(const std::string& kind,
                    const std::string& name,
                    std::string& guess,
                    Workspace& workspace) {
  const auto look_up = [&](const auto& find) -> std::optional<decltype(find())> {
    try {
      return find();
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::not_found) throw;
      if (guess.empty() && error.hint().starts_with("did you mean")) guess = error.hint();
      return std::nullopt;
    }
  };
  const home::Documents& documents = workspace.documents();
  std::optional<spec::Recipe> recipe;
  std::optional<spec::Asset> asset;
  if (kind != "asset") recipe = look_up([&] { return documents.recipe(name); });
  try {
    if (kind != "recipe") asset = look_up([&] { return documents.asset(name); });
  } catch (const base::Error& error) {
    if (!recipe) throw;
    workspace.observer().warn(error.what(), error.hint());
  }
  if (!recipe && !asset) return false;
  workspace.answer(workspace.json() ? documents_json(recipe, asset)
                                    : documents_text(recipe, asset));
  return true;
}

int run_show(const ShowOptions& options, Workspace& workspace) {
  if (!options.points.empty()) return show_run(options, workspace);
  if (names_a_run(options.name)) return show_run(options, workspace);
  if (show_study(options.name, workspace)) return exit_done;
  std::string guess;  // the nearest recipe or asset
  const auto [kind, name] = kind_and_name(options.name);
  if (show_documents(kind, name, guess, workspace)) return exit_done;
  if (!kind.empty())
    throw base::Error(base::ErrorKind::not_found,
                      "no " + kind + " is called '" + base::printable(name) + "'",
                      guess.empty() ? "'sabath search' lists them" : guess);
  try {
    return found_as(
        options.name, "recipe, asset, run or study", [&] { return show_run(options, workspace); });
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::not_found || guess.empty()) throw;
    throw base::Error(error.kind(), error.what(), guess);
  }
}

}  // namespace

void setup_show(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app, action, "show", "show a recipe, an asset, a run or a study", run_show);
  command
      .add_option("name",
                  options.name,
                  "a recipe, an asset, a run (id, unique prefix, @last) or a study (id); "
                  "recipe:NAME and asset:NAME name one of two")
      ->required();
  command.add_option("--points", options.points, "of a run: all points of this metric");
  command.add_flag("--libraries", options.libraries, "of a run: list all that it had loaded");
}

}  // namespace sabath::cli
