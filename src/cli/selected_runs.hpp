#pragma once

#include "workspace.hpp"

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/analysis/known_names.hpp>
#include <sabath/base/error.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::cli {

/// Throws `error`, or of a word that was not found that nothing of `kinds` is called so.
[[noreturn]] void refuse_word(const std::string& word,
                              const std::string& kinds,
                              const base::Error& error);

analysis::KnownNames known_names(Workspace& workspace);

/// The runs of a selection that a user typed, oldest first; archived ones as they are. Throws as
/// analysis::KnownNames and catalog::Catalog::select. Says of a run in the trash that it lies
/// there.
std::vector<catalog::RunRow> runs_if_any(const std::string& selection, Workspace& workspace);

/// The same of at least one run. Throws Error{not_found} where no run matches.
std::vector<catalog::RunRow> chosen_runs(const std::string& selection, Workspace& workspace);

/// Unpacks archived runs for this command, which then reads them as any other.
std::vector<catalog::RunRow> with_files(std::vector<catalog::RunRow> runs, Workspace& workspace);

/// Calls `find` for a selection. Where it finds no run, the error says of one that lies in the
/// trash how to bring it back.
[[noreturn]] void refuse_selection(const std::string& selection,
                                   const base::Error& error,
                                   Workspace& workspace);
template <class Find>
auto or_in_trash(const std::string& selection, Workspace& workspace, const Find& find) {
  try {
    return find();
  } catch (const base::Error& error) {
    refuse_selection(selection, error, workspace);
  }
}

/// The chosen runs with their files.
std::vector<catalog::RunRow> selected_runs(const std::string& selection, Workspace& workspace);

/// The one run that a selection names. Throws Error{usage} when it names several.
catalog::RunRow one_run(const std::string& selection, Workspace& workspace);

/// Can `name` only be a run: a selection or a whole id? Other words may be documents too.
bool names_a_run(const std::string& name);

/// Of a word that may name other things too. Calls `find`; where it finds no run, the error says
/// that nothing of `kinds` ("recipe, asset, run or study") is called so.
template <class Find>
auto found_as(const std::string& word, const std::string& kinds, const Find& find) {
  try {
    return find();
  } catch (const base::Error& error) {
    refuse_word(word, kinds, error);
  }
}

/// What `find` returns; nothing where it throws Error{not_found}.
template <class Find>
auto if_found(const Find& find) -> std::optional<decltype(find())> {
  try {
    return find();
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::not_found) throw;
    return std::nullopt;
  }
}

/// Runs of several selections, each once, and what the selections name.
struct SelectedRuns {
  std::vector<catalog::RunRow> runs{};
  analysis::NamedRuns named{};
};
/// Throws Error{not_found} where no run matches any of them.
SelectedRuns selected_together(const std::vector<std::string>& selections, Workspace& workspace);

}  // namespace sabath::cli
