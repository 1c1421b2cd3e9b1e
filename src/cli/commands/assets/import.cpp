#include "commands.hpp"

#include <sabath/app/import_table.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

namespace sabath::cli {
namespace {

std::string import_text(const app::ImportReport& report, const std::string& recipe) {
  std::string text =
      fmt::format("{} of {} imported", base::counted(report.imported, "run"), recipe);
  if (report.present > 0) text += fmt::format(", {} were there", report.present);
  if (report.missing > 0)
    text += fmt::format("; {} missing", base::counted(report.missing, "value"));
  return text + fmt::format("\nselection  tag=import:{}\n", report.id);
}

int run_import(const app::ImportRequest& request, Workspace& workspace) {
  const app::ImportReport report = app::import_table(request,
                                                     workspace.catalog(),
                                                     workspace.folders().runs(),
                                                     workspace.clock(),
                                                     workspace.observer(),
                                                     workspace.stop());
  workspace.refresh_catalog();
  return answer_with(report, import_text(report, request.recipe), workspace);
}

}  // namespace

void setup_import(OptionParser& app, Action& action) {
  auto [command, request] = add_command(
      app, action, "import", "bring in a table of results, a run for each row", run_import);
  command.add_option("table", request.table, "a CSV file")->required();
  command.add_option("--recipe", request.recipe, "what the runs are runs of: a name")->required();
  command.add_option("--metrics", request.metrics, "the columns that are metrics")
      ->required()
      ->comma_separated();
  command
      .add_option(
          "--facets", request.facets, "the columns that say what a run was: site, host, ...")
      ->comma_separated();
  command.add_option("--tag", request.tags, "a word to find the runs by")->one_each();
}

}  // namespace sabath::cli
