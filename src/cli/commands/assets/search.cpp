#include "commands.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sabath::cli {
namespace {

struct SearchOptions {
  std::vector<std::string> words{};
  std::string sort{};
};

/// Number of runs that used each document. A model counts with the recipes that run it.
std::vector<UsedDocument> with_uses(const std::vector<catalog::DocumentRow>& rows,
                                    const catalog::Catalog& catalog,
                                    const home::Documents& documents) {
  std::map<std::string, std::uint64_t> uses_of_models;
  std::vector<home::BadDocument> bad;
  for (const home::RecipeDocument& one : documents.recipes(bad))
    if (!one.recipe.model.empty())
      uses_of_models[one.recipe.model] += catalog.uses_of("recipe", one.recipe.name);
  std::vector<UsedDocument> used;
  for (const catalog::DocumentRow& row : rows) {
    UsedDocument& one = used.emplace_back(UsedDocument{row, {}});
    if (row.kind == "run") continue;
    one.uses = catalog.uses_of(row.kind, row.name);
    if (row.kind == "model") *one.uses += uses_of_models[row.name];
  }
  return used;
}

/// The most used first; runs, which nothing uses, last.
void sort_by_use(std::vector<UsedDocument>& rows) {
  std::ranges::stable_sort(rows, [](const UsedDocument& one, const UsedDocument& other) {
    return one.uses > other.uses;  // nothing is less than 0
  });
}

std::string used_text(const std::vector<UsedDocument>& rows) {
  base::TextTable table({"kind", "name", "version", ">runs", "title"});
  for (const UsedDocument& one : rows)
    table.add({one.row.kind,
               one.row.name,
               one.row.version,
               one.uses ? std::to_string(*one.uses) : "",
               one.row.title});
  return table.text();
}

int run_search(const SearchOptions& options, Workspace& workspace) {
  const std::string words = fmt::format("{}", fmt::join(options.words, " "));
  catalog::Catalog& catalog = workspace.catalog();
  app::index_documents(catalog, workspace.documents(), workspace.observer());
  const auto rows = catalog.search(words);
  if (!rows.empty() && options.sort == "used") {
    auto used = with_uses(rows, catalog, workspace.documents());
    sort_by_use(used);
    return answer_with(used, used_text(used), workspace);
  }
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
  auto [command, options] =
      add_command(app, action, "search", "find assets, recipes and runs by words", run_search);
  command.add_option("words", options.words, "words that must all occur; a last '*' completes one")
      ->required();
  command.add_option("--sort", options.sort, "match: the best match first; used: the most used")
      ->one_of({"match", "used"});
}

}  // namespace sabath::cli
