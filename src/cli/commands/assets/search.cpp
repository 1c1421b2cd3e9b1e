#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/base/text/text_table.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace sabath::cli {
namespace {

struct SearchOptions {
  std::vector<std::string> words{};
};

int run_search(const SearchOptions& options, Workspace& workspace) {
  std::string words;
  for (const std::string& word : options.words)
    words += (words.empty() ? "" : " ") + word;
  catalog::Catalog& catalog = workspace.catalog();
  app::index_documents(catalog, workspace.documents(), workspace.observer());
  const auto rows = catalog.search(words);
  if (workspace.options().json) {
    workspace.answer(json_answer(rows));
  } else if (rows.empty()) {
    workspace.answer("nothing found for '" + base::printable(words) + "'\n");
  } else {
    base::TextTable table({{"kind"}, {"name"}, {"version"}, {"title"}});
    for (const auto& row : rows)
      table.add({row.kind, row.name, row.version, row.title});
    workspace.answer(table.text());
  }
  return rows.empty() ? exit_no : exit_done;
}

}  // namespace

void setup_search(CLI::App& app, Action& action) {
  auto options = std::make_shared<SearchOptions>();
  CLI::App* command = app.add_subcommand("search", "find assets, recipes and runs by words");
  command
      ->add_option("words", options->words, "words that must all occur; a last '*' completes one")
      ->required();
  command->callback([&action, options] {
    action = [options](Workspace& workspace) { return run_search(*options, workspace); };
  });
}

}  // namespace sabath::cli
