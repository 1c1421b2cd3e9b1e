#include "commands.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

namespace sabath::cli {
namespace {

int run_search(const std::vector<std::string>& asked, Workspace& workspace) {
  const std::string words = fmt::format("{}", fmt::join(asked, " "));
  catalog::Catalog& catalog = workspace.catalog();
  app::index_documents(catalog, workspace.documents(), workspace.observer());
  const auto rows = catalog.search(words);
  base::TextTable table({"kind", "name", "version", "title"});
  for (const auto& row : rows)
    table.add({row.kind, row.name, row.version, row.title});
  workspace.answer(workspace.json() ? json_answer(rows)
                   : rows.empty()   ? "nothing found for '" + base::printable(words) + "'\n"
                                    : table.text());
  return rows.empty() ? exit_no : exit_done;
}

}  // namespace

void setup_search(OptionParser& app, Action& action) {
  auto [command, words] =
      add_command(app, action, "search", "find assets, recipes and runs by words", run_search);
  command.add_option("words", words, "words that must all occur; a last '*' completes one")
      ->required();
}

}  // namespace sabath::cli
