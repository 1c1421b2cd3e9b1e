#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/analysis/study_outcome.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_archive.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::cli {
namespace {

using base::TextTable;

struct ListOptions {
  std::string what = "runs";
  std::string selection{};
  std::vector<std::string> more{};  ///< words that are too many
  std::size_t limit = 50;
  bool all = false;
  bool archived = false;
};

/// The column of reasons is there only where some run has one.
std::string runs_table(const std::vector<catalog::RunRow>& rows,
                       const std::vector<std::string>& reasons) {
  const bool has_reasons =
      std::ranges::any_of(reasons, [](const std::string& reason) { return !reason.empty(); });
  std::vector<TextTable::Column> columns{
      "run", "state", "created", ">time", ">seed", "node", "tags"};
  if (has_reasons) columns.insert(columns.begin() + 2, "counts");
  TextTable table(columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const catalog::RunRow& row = rows[i];
    std::vector<std::string> cells{row.id,
                                   std::string(spec::to_string(row.state)) +
                                       (home::is_archived(row.directory) ? ", archived" : ""),
                                   row.created,
                                   row.wall_s > 0 ? base::seconds_text(row.wall_s) : "",
                                   row.seed,
                                   row.node,
                                   fmt::format("{}", fmt::join(row.tags, ", "))};
    if (has_reasons)
      cells.insert(cells.begin() + 2, reasons[i].empty() ? "yes" : "no: " + reasons[i]);
    table.add(std::move(cells));
  }
  return table.text();
}

/// Says why each run that is shown does not count, and how many of all that match do. Without a
/// selection only those that are shown are counted: no other command takes "all runs", and a home
/// may have very many.
int list_runs(const ListOptions& options, Workspace& workspace) {
  const catalog::Catalog& catalog = workspace.catalog();
  const bool is_selection = !options.selection.empty();
  if (is_selection)
    known_names(workspace).check_selection(options.selection, workspace.clock().now());
  // One more than is shown tells whether there are more.
  const std::size_t limit = options.all ? 0 : options.limit;
  const std::size_t most = limit == 0 || is_selection ? 0 : limit + 1;
  auto rows = or_in_trash(options.selection, workspace, [&] {
    return catalog.runs(options.archived ? 0 : most, options.selection, workspace.clock().now());
  });
  if (options.archived)
    std::erase_if(rows, [](const auto& run) { return !home::is_archived(run.directory); });
  analysis::NamedRuns named;
  named.add_selection(options.selection, rows);
  const bool has_more = limit != 0 && rows.size() > limit;
  if (has_more && !is_selection) rows.resize(limit);
  std::vector<std::string> reasons = analysis::why_not_counted(rows, named, catalog);
  const spec::RunCount count = spec::count_runs(reasons);
  if (has_more) {
    rows.resize(limit);
    reasons.resize(limit);
  }
  if (workspace.json()) {
    workspace.answer(json_answer(rows, reasons, count));
    return exit_done;
  }
  const char* const none =
      is_selection ? "no run matches\n" : "no runs yet; 'sabath run RECIPE' makes one\n";
  std::string text = rows.empty() ? none : runs_table(rows, reasons);
  if (count.all > 1) {
    const bool is_of_shown = has_more && !is_selection;
    text += (is_of_shown ? "of the runs shown " : "") + spec::count_text(count) + "\n";
  }
  workspace.answer(text);
  if (has_more) workspace.observer().note("... and older ones: --all shows them");
  return exit_done;
}

int list_studies(Workspace& workspace) {
  std::vector<analysis::StudyOutcome> outcomes;
  for (const std::string& id : home::study_ids(workspace.folders().studies())) {
    try {
      const home::StudyFiles files(workspace.folders().studies() / id);
      outcomes.push_back(analysis::look_at_study(files, workspace.folders()));
    } catch (const base::Error& error) {
      workspace.observer().warn(error.what(), error.hint());
    }
  }
  TextTable table({"study", "created", ">runs", ">ok", ">counted", ">failed", ">open"});
  for (const analysis::StudyOutcome& outcome : outcomes) {
    table.add({outcome.plan.study_id,
               outcome.plan.created,
               std::to_string(outcome.points.size()),
               std::to_string(outcome.count(spec::RunState::ok)),
               std::to_string(spec::count_runs(analysis::why_not_counted(outcome)).counted),
               std::to_string(outcome.count(spec::RunState::failed)),
               std::to_string(outcome.open())});
  }
  return answer_with(
      outcomes,
      table.empty() ? "no studies yet; 'sabath run RECIPE --sweep' makes one\n" : table.text(),
      workspace);
}

int list_documents(const std::string& what, Workspace& workspace) {
  std::vector<home::BadDocument> bad;
  std::vector<catalog::DocumentRow> rows;
  if (what == "assets") {
    for (const home::AssetDocument& document : workspace.documents().assets(bad)) {
      const spec::Asset& asset = document.asset;
      rows.push_back({std::string(spec::to_string(asset.kind)),
                      asset.name,
                      asset.version,
                      asset.title,
                      document.path.string()});
    }
  } else if (what == "sites") {
    for (const home::SiteDocument& document : workspace.sites().sites(bad)) {
      const spec::Site& site = document.site;
      rows.push_back({"site", site.name, site.scheduler, site.description, document.path.string()});
    }
  } else {
    for (const home::RecipeDocument& document : workspace.documents().recipes(bad)) {
      const spec::Recipe& recipe = document.recipe;
      rows.push_back({"recipe", recipe.name, "", recipe.description, document.path.string()});
    }
  }
  for (const home::BadDocument& document : bad)
    workspace.observer().warn(document.problem);
  TextTable table({"kind", "name", {what == "sites" ? "scheduler" : "version"}, "title"});
  for (const auto& row : rows)
    table.add({row.kind, row.name, row.version, row.title});
  return answer_with(rows,
                     rows.empty() && what == "sites"
                         ? "no sites yet; 'docs/formats/site.md' says how one is described\n"
                         : table.text(),
                     workspace);
}

int run_list(const ListOptions& options, Workspace& workspace) {
  if (!options.more.empty()) {
    const std::string joined =
        fmt::format("{},{}", options.selection, fmt::join(options.more, ","));
    throw usage_error("list " + options.what + ": takes one selection",
                      "join terms with a comma: '" + base::printable(joined) + "'");
  }
  if (options.what != "runs" && !options.selection.empty()) {
    throw usage_error("list " + options.what + ": takes no selection",
                      "'sabath list runs SELECTION' does");
  }
  if (options.what == "runs") return list_runs(options, workspace);
  if (options.what == "studies") return list_studies(workspace);
  if (options.what == "envs") return list_environments(workspace);
  return list_documents(options.what, workspace);
}

}  // namespace

void setup_list(OptionParser& app, Action& action) {
  auto [command, options] = add_command(
      app, action, "list", "list runs, studies, assets, recipes, environments or sites", run_list);
  command.add_option("what", options.what, "runs, studies, assets, recipes, envs or sites")
      ->one_of({"runs", "studies", "assets", "recipes", "envs", "sites"})
      ->capture_default_str();
  command.add_option("selection", options.selection, "of runs: as 'sabath help selections' says");
  command.add_option("more", options.more)->group("");
  command.add_option("--limit", options.limit, "at most so many runs, newest first")
      ->check(why_no_count)
      ->capture_default_str();
  command.add_flag("--all", options.all, "all runs");
  command.add_flag("--archived", options.archived, "only archived runs");
}

}  // namespace sabath::cli
