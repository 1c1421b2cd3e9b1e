#include <sabath/app/index_runs.hpp>
#include <sabath/app/run_files.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>

#include <unistd.h>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;

/// Brings one run directory into the catalog: its record, or its plan while it has none.
void index_run(catalog::Catalog& catalog, const fs::path& directory) {
  const RunFiles files(directory);
  if (const auto record = files.read_record()) {
    catalog.put_record(*record, directory.string());
    return;
  }
  const spec::RunPlan plan = files.read_plan();
  const spec::RunStatus status = files.read_status();
  catalog.put_plan(plan, directory.string());
  catalog.put_state(plan.run_id, status.state, status.message);
}

/// A status is the last of what planning writes: without one, a folder is a run that is being
/// planned right now, or whose planning was cut off.
bool is_run(const fs::path& directory) {
  std::error_code code;
  return spec::is_run_id(directory.filename().string()) &&
         (fs::exists(RunFiles(directory).status(), code) ||
          fs::exists(RunFiles(directory).record(), code));
}

/// Throws rather than take a folder that cannot be read for an empty one.
fs::directory_iterator folders_in(const fs::path& runs) {
  std::error_code code;
  fs::directory_iterator folders(runs, code);
  if (code && code != std::errc::no_such_file_or_directory) {
    base::throw_errno(runs.string(), "cannot read", code.value());
  }
  return folders;
}

std::vector<fs::path> notes_in(const fs::path& inbox) {
  std::vector<fs::path> notes;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(inbox, code)) {
    const std::string suffix = entry.path().extension().string();
    if (suffix == ".planned" || suffix == ".finished") notes.push_back(entry.path());
  }
  std::sort(notes.begin(), notes.end());
  return notes;
}

/// Closes a run whose process is gone without having said how it ended.
void close_if_lost(catalog::Catalog& catalog, const catalog::RunRow& row, base::Clock& clock) {
  const RunFiles files(row.directory);
  std::error_code code;
  if (!fs::exists(files.directory(), code)) return;
  if (files.read_record()) {
    index_run(catalog, files.directory());
    return;
  }
  spec::RunStatus status = files.read_status();
  if (spec::is_final(status.state)) {
    catalog.put_state(row.id, status.state, status.message);
    return;
  }
  if (!is_provably_gone(status)) {
    if (status.state != row.state) catalog.put_state(row.id, status.state, status.message);
    return;
  }
  // It may have ended while we looked: now that its process is gone, nobody writes any more.
  if (files.read_record()) {
    index_run(catalog, files.directory());
    return;
  }
  status = files.read_status();
  if (spec::is_final(status.state)) {
    catalog.put_state(row.id, status.state, status.message);
    return;
  }
  status.message = status.stage.empty() ? "it was ended before its first stage"
                                        : "it was ended during stage " + status.stage;
  status.state = spec::RunState::lost;
  status.updated = base::format_rfc3339(clock.now());
  files.write_status(status);
  catalog.put_state(row.id, status.state, status.message);
}

template <class Action>
void telling_problems(base::Observer& observer, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.kind() == base::ErrorKind::catalog) throw;
    observer.warn(error.what(), error.hint());
  }
}

}  // namespace

void index_inbox(catalog::Catalog& catalog,
                 const fs::path& runs,
                 base::Clock& clock,
                 base::Observer& observer) {
  const std::vector<fs::path> notes = notes_in(runs / ".inbox");
  if (!notes.empty()) {
    catalog::Catalog::Transaction transaction(catalog);
    std::vector<fs::path> taken;
    for (const fs::path& note : notes) {
      telling_problems(observer, [&] {
        const fs::path directory = runs / note.stem();
        std::error_code code;
        if (fs::exists(directory, code)) index_run(catalog, directory);
        taken.push_back(note);
      });
    }
    transaction.commit();
    for (const fs::path& note : taken)
      ::unlink(note.c_str());
  }
  for (const auto state : {spec::RunState::planned, spec::RunState::running}) {
    for (const catalog::RunRow& row : catalog.in_state(state)) {
      telling_problems(observer, [&] { close_if_lost(catalog, row, clock); });
    }
  }
}

ReindexReport reindex(catalog::Catalog& catalog,
                      const fs::path& runs,
                      base::Clock& clock,
                      base::Observer& observer,
                      std::stop_token stop) {
  ReindexReport report;
  {
    catalog::Catalog::Transaction transaction(catalog);
    catalog.forget_all_runs();
    for (const auto& entry : folders_in(runs)) {
      if (!is_run(entry.path())) continue;
      if (stop.stop_requested()) {
        throw Error(base::ErrorKind::interrupted, "reindex: stopped, the catalog is as it was");
      }
      try {
        index_run(catalog, entry.path());
        ++report.indexed;
      } catch (const Error& error) {
        if (error.kind() == base::ErrorKind::catalog) throw;
        ++report.unreadable;
        observer.warn(error.what(), error.hint());
      }
      if (report.indexed % 100 == 0) {
        observer.progress({"indexing runs", report.indexed, {}, false, false});
      }
    }
    transaction.commit();
  }
  observer.progress({"indexing runs", report.indexed, report.indexed, false, true});
  index_inbox(catalog, runs, clock, observer);
  return report;
}

void index_documents(catalog::Catalog& catalog,
                     const Documents& documents,
                     base::Observer& observer) {
  std::vector<BadDocument> bad;
  const auto assets = documents.assets(bad);
  const auto recipes = documents.recipes(bad);
  for (const BadDocument& document : bad)
    observer.warn(document.problem);
  catalog::Catalog::Transaction transaction(catalog);
  std::vector<std::string> paths;
  for (const AssetDocument& document : assets) {
    paths.push_back(document.path.string());
    catalog.put_asset(document.asset, paths.back());
  }
  for (const RecipeDocument& document : recipes) {
    paths.push_back(document.path.string());
    catalog.put_recipe(document.recipe, paths.back());
  }
  catalog.keep_only_documents(paths);
  transaction.commit();
}

}  // namespace sabath::app
