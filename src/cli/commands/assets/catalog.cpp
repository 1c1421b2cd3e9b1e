#include "commands.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/fair.hpp>

#include <filesystem>

namespace sabath::cli {
namespace {

std::string stats_text(const catalog::CatalogStats& stats) {
  return "runs       " + std::to_string(stats.runs) + "\nmetrics    " +
         std::to_string(stats.metrics) + "\ndocuments  " + std::to_string(stats.documents) +
         "\nsize       " + base::format_bytes(stats.size_bytes) + "\nversion    " +
         std::to_string(stats.schema_version) + "\nSQLite     " + stats.sqlite_version + "\n";
}

int catalog_stats(Workspace& workspace) {
  const catalog::CatalogStats stats = workspace.catalog().stats();
  return answer_with(stats, stats_text(stats), workspace);
}

int catalog_reindex(Workspace& workspace) {
  const std::filesystem::path file = workspace.folders().catalog();
  if (catalog::Catalog::set_aside_if_foreign(file)) {
    workspace.observer().warn(file.string() + ": has not the tables of a catalog",
                              "it was set aside as " + file.filename().string() + ".damaged");
  }
  catalog::Catalog& catalog = workspace.catalog_as_it_is();
  const app::ReindexReport report = app::reindex(catalog,
                                                 workspace.folders().runs(),
                                                 workspace.clock(),
                                                 workspace.observer(),
                                                 workspace.stop());
  app::index_documents(catalog, workspace.documents(), workspace.observer());
  workspace.answer(workspace.json()
                       ? json_answer(catalog.stats())
                       : base::counted(report.indexed, "run") + " indexed, " +
                             std::to_string(report.unreadable) + " could not be read\n");
  return report.unreadable == 0 ? exit_done : exit_no;
}

struct FairOptions {
  std::vector<std::string> names{};
  bool is_fair = false;
};

std::vector<FairReport> fair_reports(const FairOptions& options, Workspace& workspace) {
  std::vector<FairReport> reports;
  if (options.names.empty()) {
    std::vector<home::BadDocument> bad;
    for (const home::AssetDocument& one : workspace.documents().assets(bad))
      reports.push_back({one.asset.name, exchange::fair_answers(one.asset)});
    for (const home::BadDocument& one : bad)
      workspace.observer().warn(one.path.string() + ": " + one.problem);
  }
  for (const std::string& name : options.names) {
    const spec::Asset asset = workspace.documents().asset(name);
    reports.push_back({asset.name, exchange::fair_answers(asset)});
  }
  return reports;
}

std::string fair_text(const std::vector<FairReport>& reports) {
  base::TextTable table({"asset", "metric", "question", "answer", "remedy"});
  for (const FairReport& report : reports)
    for (const exchange::FairAnswer& one : report.answers)
      table.add({report.asset,
                 one.metric,
                 one.question,
                 std::string(spec::to_string(one.state)),
                 one.remedy});
  return table.text();
}

int catalog_check(const FairOptions& options, Workspace& workspace) {
  if (!options.is_fair)
    throw usage_error("catalog check: needs --fair", "'sabath validate FILE' checks a document");
  const std::vector<FairReport> reports = fair_reports(options, workspace);
  ExitStatus status = exit_done;
  for (const FairReport& report : reports)
    for (const exchange::FairAnswer& one : report.answers)
      if (one.state == exchange::FairState::missing) status = exit_no;
  return answer_with(reports, fair_text(reports), workspace, status);
}

}  // namespace

void setup_catalog(OptionParser& app, Action& action) {
  OptionParser* group = app.add_subcommand("catalog", "look after the index");
  group->require_subcommand(1);
  group->add_subcommand("stats", "how much is in it")->callback([&action] {
    action = catalog_stats;
  });
  group->add_subcommand("reindex", "make it again from nothing but the run directories")
      ->callback([&action] { action = catalog_reindex; });
  auto [check, options] = add_command(
      *group, action, "check", "whether assets are findable and reusable", catalog_check);
  check.add_option("names", options.names, "assets; else all");
  check.add_flag("--fair", options.is_fair, "the FAIR principles: what holds, and what is missing");
}

}  // namespace sabath::cli
