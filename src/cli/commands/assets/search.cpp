#include "commands.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

namespace sabath::cli {
namespace {

struct SearchOptions {
  std::vector<std::string> words{};
};

int run_search(const SearchOptions& options, Workspace& workspace) {
  const std::string words = fmt::format("{}", fmt::join(options.words, " "));
  catalog::Catalog& catalog = workspace.catalog();
  app::index_documents(catalog, workspace.documents(), workspace.observer());
  const auto rows = catalog.search(words);
  if (workspace.json()) {
    workspace.answer(json_answer(rows));
  } else if (rows.empty()) {
    workspace.answer("nothing found for '" + base::printable(words) + "'\n");
  } else {
    base::TextTable table({"kind", "name", "version", "title"});
    for (const auto& row : rows)
      table.add({row.kind, row.name, row.version, row.title});
    workspace.answer(table.text());
  }
  return rows.empty() ? exit_no : exit_done;
}

}  // namespace

void setup_search(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app, action, "search", "find assets, recipes and runs by words", run_search);
  command.add_option("words", options.words, "words that must all occur; a last '*' completes one")
      ->required();
}

}  // namespace sabath::cli
