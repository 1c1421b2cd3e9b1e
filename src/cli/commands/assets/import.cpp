#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/app/import_table.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace sabath::cli {
namespace {

std::string plural(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string import_text(const app::ImportReport& report, const std::string& recipe) {
  std::string text = fmt::format("{} of {} imported", plural(report.imported, "run"), recipe);
  if (report.present > 0) text += fmt::format(", {} were there", report.present);
  if (report.missing > 0) text += fmt::format("; {} missing", plural(report.missing, "value"));
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
  workspace.answer(workspace.options().json ? json_answer(report)
                                            : import_text(report, request.recipe));
  return exit_done;
}

}  // namespace

void setup_import(CLI::App& app, Action& action) {
  auto request = std::make_shared<app::ImportRequest>();
  CLI::App* command =
      app.add_subcommand("import", "bring in a table of results, a run for each row");
  command->add_option("table", request->table, "a CSV file")->required();
  command->add_option("--recipe", request->recipe, "what the runs are runs of: a name")->required();
  command->add_option("--metrics", request->metrics, "the columns that are metrics")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option(
          "--facets", request->facets, "the columns that say what a run was: site, host, ...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--tag", request->tags, "a word to find the runs by")
      ->allow_extra_args(false);
  command->callback([&action, request] {
    action = [request](Workspace& workspace) { return run_import(*request, workspace); };
  });
}

}  // namespace sabath::cli
