#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/analysis/study_outcome.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/catalog/saved_selections.hpp>
#include <sabath/live/run_list.hpp>

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
  std::string columns{};
  std::string sort{};
  std::string save{};
  std::string forget{};
  bool archived = false;
};

/// The parts between commas.
std::vector<std::string> names_in(const std::string& option, const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& part : base::split(text, ','))
    names.emplace_back(base::trimmed(part));
  if (!text.empty() && names.empty()) throw usage_error(option + ": names nothing");
  return names;
}

void save_selection(const ListOptions& options, Workspace& workspace) {
  if (options.selection.empty())
    throw usage_error("--save: no selection is given", "sabath list runs SELECTION --save NAME");
  const auto before =
      catalog::save_selection(workspace.folders().home, options.save, options.selection);
  std::string said = "@" + options.save + " now stands for: " + base::printable(options.selection);
  if (before && *before != options.selection) said += "; before: " + base::printable(*before);
  workspace.observer().note(said);
}

int list_selections(const ListOptions& options, Workspace& workspace) {
  const auto& home = workspace.folders().home;
  if (!options.forget.empty()) catalog::forget_selection(home, options.forget);
  const auto saved = catalog::saved_selections(home);
  TextTable table({"name", "selection"});
  for (const auto& [name, text] : saved)
    table.add({"@" + name, text});
  return answer_with(saved,
                     saved.empty()
                         ? "no selections yet; 'sabath list runs SELECTION --save NAME' saves one\n"
                         : table.text(),
                     workspace);
}

/// Says why each run that is shown does not count, and how many of all that match do. Without a
/// selection only those that are shown are counted: no other command takes "all runs", and a home
/// may have very many.
int list_runs(const ListOptions& options, Workspace& workspace) {
  const catalog::Catalog& catalog = workspace.catalog();
  const bool is_selection = !options.selection.empty();
  const analysis::KnownNames names = known_names(workspace);
  if (is_selection) names.check_selection(options.selection);
  live::RunListRequest request;
  request.selection = options.selection;
  if (names.has_run()) request.sort = names_in("--sort", options.sort);
  request.columns = names_in("--columns", options.columns);
  request.limit = options.all ? 0 : options.limit;
  request.archived = options.archived;
  const auto [rows, reasons, count, columns, has_more] =
      or_in_trash(options.selection, workspace, [&] {
        return live::list_runs(request, catalog, workspace.clock().now());
      });
  if (!options.save.empty()) save_selection(options, workspace);
  if (workspace.json()) {
    workspace.answer(json_answer(rows, reasons, count, columns));
    return exit_done;
  }
  std::string text = live::runs_text(rows, reasons, columns);
  if (rows.empty())
    text = is_selection ? "no run matches\n" : "no runs yet; 'sabath run RECIPE' makes one\n";
  if (count.all > 1) {
    const bool is_of_shown = has_more && !is_selection;
    text += (is_of_shown ? "of the runs shown " : "") + spec::count_text(count) + "\n";
  }
  workspace.answer(text);
  if (has_more) {
    workspace.observer().note(request.sort.empty() ? "... and older ones: --all shows them"
                                                   : "... and more: --all shows them");
  }
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
    const auto is_rest = [](const std::string& word) {
      return word == "and" || word == "or" || word == "not" ||
             std::string("=<>!~()").find(word.front()) != std::string::npos;
    };
    const bool is_cut = options.selection == "not" || std::ranges::any_of(options.more, is_rest);
    const char* const between = is_cut ? " " : ",";
    const std::string joined =
        fmt::format("{}{}{}", options.selection, between, fmt::join(options.more, between));
    throw usage_error("list " + options.what + ": takes one selection",
                      std::string(is_cut ? "quote it" : "join terms with a comma") + ": '" +
                          base::printable(joined) + "'");
  }
  if (options.what != "runs" && !options.selection.empty()) {
    throw usage_error("list " + options.what + ": takes no selection",
                      "'sabath list runs SELECTION' does");
  }
  const bool is_runs = options.what == "runs";
  for (const auto* const option : {&options.columns, &options.sort, &options.save}) {
    if (!is_runs && !option->empty()) {
      throw usage_error("list " + options.what + ": --columns, --sort and --save are for runs",
                        "'sabath list runs' takes them");
    }
  }
  if (options.what != "selections" && !options.forget.empty()) {
    throw usage_error("list " + options.what + ": --forget is for selections",
                      "'sabath list selections --forget NAME'");
  }
  if (is_runs) return list_runs(options, workspace);
  if (options.what == "selections") return list_selections(options, workspace);
  if (options.what == "studies") return list_studies(workspace);
  if (options.what == "envs") return list_environments(workspace);
  return list_documents(options.what, workspace);
}

}  // namespace

void setup_list(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app,
                  action,
                  "list",
                  "list runs, studies, assets, recipes, environments, sites or saved selections",
                  run_list);
  command
      .add_option("what", options.what, "runs, studies, assets, recipes, envs, sites or selections")
      ->one_of({"runs", "studies", "assets", "recipes", "envs", "sites", "selections"})
      ->capture_default_str();
  command.add_option("selection", options.selection, "of runs: as 'sabath help selections' says");
  command.add_option("more", options.more)->group("");
  command.add_option("--limit", options.limit, "at most so many runs, newest first")
      ->check(why_no_count)
      ->capture_default_str();
  command.add_flag("--all", options.all, "all runs");
  command.add_option("--columns",
                     options.columns,
                     "of runs: parameters, metrics, best.METRIC, last.METRIC, wall, created ...");
  command.add_option("--sort",
                     options.sort,
                     "of runs: by these names; metrics begin with the best; -NAME reverses");
  command.add_option("--save", options.save, "of runs: keep the selection as @NAME");
  command.add_option("--forget", options.forget, "of selections: remove this one");
  command.add_flag("--archived", options.archived, "only archived runs");
}

}  // namespace sabath::cli
