#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/execution/collect_run.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/run_record.hpp>

namespace sabath::cli {
namespace {

struct CollectOptions {
  std::string run{};
  std::string patterns{};
};

int run_collect(const CollectOptions& options, Workspace& workspace) {
  const catalog::RunRow row = one_run(options.run, workspace);
  if (home::is_archived(chosen_runs(row.id, workspace).front().directory)) {
    throw usage_error("run " + row.id + ": is archived, so that nothing is added to it",
                      "'sabath archive --restore " + row.id + "' unpacks it");
  }
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
  const auto folder = files.collections() / std::to_string(collection.number);
  return answer_with(collection,
                     report::collection_text(collection) + "folder        " +
                         base::printable(folder.string()) + "\n",
                     workspace);
}

}  // namespace

void setup_collect(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app,
                  action,
                  "collect",
                  "read the metrics of a finished run again, with other patterns",
                  run_collect);
  command.add_option("run", options.run, "a run (id, unique prefix, @last)")->required();
  command.add_option(
      "--with", options.patterns, "a document with \"metrics\", or a recipe; else the run's own");
}

}  // namespace sabath::cli
