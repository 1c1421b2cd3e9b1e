#include "commands.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/base/text/text_table.hpp>

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

}  // namespace

void setup_catalog(OptionParser& app, Action& action) {
  OptionParser* group = app.add_subcommand("catalog", "look after the index");
  group->require_subcommand(1);
  group->add_subcommand("stats", "how much is in it")->callback([&action] {
    action = catalog_stats;
  });
  group->add_subcommand("reindex", "make it again from nothing but the run directories")
      ->callback([&action] { action = catalog_reindex; });
}

}  // namespace sabath::cli
