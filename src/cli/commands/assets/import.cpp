#include "commands.hpp"

#include <sabath/app/import_table.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <map>

namespace sabath::cli {
namespace {

struct ImportOptions {
  app::ImportRequest request{};
  std::vector<std::string> counts{};
};

std::string import_text(const app::ImportReport& report, const std::string& recipe) {
  std::string text =
      fmt::format("{} of {} imported", base::counted(report.imported, "run"), recipe);
  if (report.present > 0) text += fmt::format(", {} were there", report.present);
  if (report.missing > 0)
    text += fmt::format("; {} missing", base::counted(report.missing, "value"));
  if (report.doubts > 0)
    text += fmt::format("; {} cannot be right", base::counted(report.doubts, "value"));
  return text + fmt::format("\nselection  tag=import:{}\n", report.id);
}

/// "mnist_convnet=10000": the metric is a share of so many.
std::map<std::string, std::uint64_t> counts_of(const std::vector<std::string>& words) {
  std::map<std::string, std::uint64_t> counts;
  for (const std::string& word : words) {
    const std::size_t sign = word.rfind('=');
    const std::string number = sign == std::string::npos ? "" : word.substr(sign + 1);
    const std::uint64_t count = base::number_in<std::uint64_t>(number).value_or(0);
    if (count == 0 || sign == 0)
      throw usage_error("--count: '" + base::printable(word) + "' is not METRIC=N",
                        "such as mnist_convnet=10000, the number of test images");
    if (!counts.emplace(word.substr(0, sign), count).second)
      throw usage_error("--count: '" + base::printable(word.substr(0, sign)) + "' stands twice");
  }
  return counts;
}

int run_import(const ImportOptions& options, Workspace& workspace) {
  app::ImportRequest request = options.request;
  request.counts = counts_of(options.counts);
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
  auto [command, options] = add_command(
      app, action, "import", "bring in a table of results, a run for each row", run_import);
  app::ImportRequest& request = options.request;
  command.add_option("table", request.table, "a CSV file")->required();
  command.add_option("--recipe", request.recipe, "what the runs are runs of: a name")->required();
  command.add_option("--metrics", request.metrics, "the columns that are metrics")
      ->required()
      ->comma_separated();
  command
      .add_option(
          "--facets", request.facets, "the columns that say what a run was: site, host, ...")
      ->comma_separated();
  command
      .add_option("--count",
                  options.counts,
                  "METRIC=N: its values are shares k/N, such as accuracies of N images; others are "
                  "likely misprints")
      ->comma_separated();
  command.add_option("--tag", request.tags, "a word to find the runs by")->one_each();
}

}  // namespace sabath::cli
