#include "commands.hpp"
#include "commands/run/watching.hpp"
#include "selected_runs.hpp"
#include "show_points.hpp"

#include <sabath/analysis/study_outcome.hpp>
#include <sabath/analysis/whole_values.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/batch/run_accounting.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/live/run_text.hpp>
#include <sabath/report/document_text.hpp>
#include <sabath/report/text.hpp>

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

/// Of the terminal that the answer goes to; elsewhere as the page of a paper.
std::size_t answer_columns() {
  constexpr std::size_t usual = 100;
  constexpr std::size_t least = 40;
  struct winsize size {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
  return std::max<std::size_t>(size.ws_col, least);
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
                                   live::courses_of(*current),
                                   report::letters_of_locale(),
                                   whole}) +
                  report::label_line("collection", collection) +
                  report::label_line("scheduler",
                                     live::accounting_text(batch::read_accounting(row.directory))) +
                  live::said_text(said) +
                  report::label_line(is_archived ? "archive" : "folder", place));
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
  workspace.answer(report::label_line("run", row.id) +
                   report::label_line("state", std::string(spec::to_string(state))) +
                   report::label_line("stage", status.stage) +
                   report::label_line("since", status.updated) +
                   report::label_line("", has_job ? row.message : status.message) +
                   live::said_text(said) + report::label_line("folder", row.directory));
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
  if (!asset) return report::recipe_text(*recipe);
  return recipe ? report::recipe_text(*recipe) + "\n" + report::asset_text(*asset)
                : report::asset_text(*asset);
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
