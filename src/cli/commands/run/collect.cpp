#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/execution/collect_run.hpp>
#include <sabath/report/text.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace sabath::cli {
namespace {

struct CollectOptions {
  std::string run{};
  std::string patterns{};
};

int run_collect(const CollectOptions& options, Workspace& workspace) {
  const catalog::RunRow row = workspace.one_run(options.run);
  const home::RunFiles files(row.directory);
  std::string patterns;
  std::string origin = options.patterns;
  if (!origin.empty()) {
    patterns = base::read_file(origin);
  } else if (const auto record = files.read_record()) {
    patterns = record->recipe_text;
    origin = files.record().string() + ":/recipe_text";
  }
  const spec::Collection collection =
      execution::collect_run(files, patterns, origin, workspace.clock());
  if (workspace.options().json) {
    workspace.answer(json_answer(collection));
    return exit_done;
  }
  workspace.answer(
      report::collection_text(collection) + "folder        " +
      base::printable((files.collections() / std::to_string(collection.number)).string()) + "\n");
  return exit_done;
}

}  // namespace

void setup_collect(CLI::App& app, Action& action) {
  auto options = std::make_shared<CollectOptions>();
  CLI::App* command = app.add_subcommand(
      "collect", "read the metrics of a finished run again, with other patterns");
  command->add_option("run", options->run, "a run (id, unique prefix, @last)")->required();
  command->add_option(
      "--with", options->patterns, "a document with \"metrics\", or a recipe; else the run's own");
  command->callback([&action, options] {
    action = [options](Workspace& workspace) { return run_collect(*options, workspace); };
  });
}

}  // namespace sabath::cli
