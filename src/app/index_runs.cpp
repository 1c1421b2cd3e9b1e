#include <sabath/app/index_runs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/execution/lost_record.hpp>
#include <sabath/execution/run_executors.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/spec/run_record.hpp>

#include <dirent.h>

#include <algorithm>
#include <future>
#include <optional>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;

/// What a run directory has: its record, or its plan and status without one.
struct FoundRun {
  std::optional<spec::RunRecord> record{};
  spec::RunPlan plan{};
  spec::RunStatus status{};
  std::string batch{};  ///< of one with a record, where that was asked for
  std::vector<home::RunStatement> said{};
  std::vector<std::string> damaged{};  ///< statements that cannot be read
};

/// A record does not name its batch, and reading a plan takes long: only for runs that may have
/// one.
std::string batch_of(const fs::path& directory, const spec::RunRecord& record) {
  std::error_code code;
  const fs::path studies = directory.parent_path().parent_path() / "studies";
  const bool may_have =
      fs::exists(directory / "jobs", code) ||
      (!record.study_id.empty() && fs::exists(studies / record.study_id / "jobs", code));
  if (!may_have) return {};
  try {
    const auto batch = home::RunFiles(directory).read_plan().batch;
    return batch ? (directory / *batch).lexically_normal().string() : std::string();
  } catch (const Error&) {
    return {};  // the record tells all else
  }
}

/// A run has the name of its directory: a document with another id would replace another run. A
/// study's id names a directory too, and must not lead elsewhere.
void check_ids(const fs::path& file, const std::string& run_id, const std::string& study_id) {
  const std::string hint = "restore the file, or remove the folder";
  const std::string name = file.parent_path().filename().string();
  if (run_id != name) {
    throw Error(base::ErrorKind::integrity,
                file.string() + ":/run_id: is '" + base::printable(run_id) +
                    "', but the folder is '" + name + "'",
                hint);
  }
  if (!study_id.empty() && !base::is_safe_name(study_id)) {
    throw Error(base::ErrorKind::integrity,
                file.string() + ":/study_id: invalid id '" + base::printable(study_id) + "'",
                hint);
  }
}

FoundRun read_run(const fs::path& directory) {
  const home::RunFiles files(directory);
  FoundRun run;
  run.said = home::read_statements(
      directory, [&](const std::string& problem) { run.damaged.push_back(problem); });
  std::error_code code;
  // The record of an attempt is not the run's: its job may come back.
  if (fs::exists(files.record(), code) && (run.record = execution::read_current_summary(files))) {
    check_ids(files.record(), run.record->run_id, run.record->study_id);
    return run;
  }
  run.plan = files.read_plan();
  check_ids(files.plan(), run.plan.run_id, run.plan.study_id);
  run.status = files.read_status();
  if (run.plan.batch && run.status.state == spec::RunState::interrupted &&
      files.read_record().has_value()) {
    run.status.state = spec::RunState::running;
  }
  spec::parse_recipe(run.plan.recipe_text, files.plan().string() + ":/recipe");
  return run;
}

void put_said(catalog::Catalog& catalog,
              const std::string& id,
              const std::vector<std::string>& recorded,
              const std::vector<home::RunStatement>& said) {
  if (said.empty()) return;
  std::vector<catalog::RunNote> notes;
  for (const home::RunStatement& one : said) {
    if (one.kind == home::RunStatement::Kind::note) notes.push_back({one.at, one.by, one.text});
  }
  catalog.put_said(id, home::current_tags(recorded, said), notes);
}

void put_run(catalog::Catalog& catalog,
             const FoundRun& run,
             const fs::path& directory,
             base::Observer& observer) {
  for (const std::string& problem : run.damaged)
    observer.warn(problem,
                  "what else was said of the run is there; remove the file, or restore it");
  if (run.record) {
    catalog.put_record(*run.record, directory.string(), run.batch);
    return put_said(catalog, run.record->run_id, run.record->tags, run.said);
  }
  catalog.put_plan(run.plan, directory.string());
  catalog.put_state(run.plan.run_id, run.status.state, run.status.message);
  put_said(catalog, run.plan.run_id, run.plan.tags, run.said);
}

home::Folders home_of(const fs::path& runs) {
  return {.home = runs.parent_path()};
}

/// Planning writes the status last. A directory without one is a run that is being planned, or
/// whose planning was cut off.
bool is_run(const fs::path& directory) {
  std::error_code code;
  return spec::is_run_id(directory.filename().string()) &&
         (fs::exists(home::RunFiles(directory).status(), code) ||
          fs::exists(home::RunFiles(directory).record(), code));
}

/// Returns the inode of the file there; 0: none.
std::uint64_t file_at(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

bool is_note(const fs::path& name) {
  const std::string suffix = name.extension().string();
  return suffix == ".planned" || suffix == ".finished";
}

std::vector<fs::path> notes_in(const fs::path& inbox) {
  std::vector<fs::path> notes;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(inbox, code)) {
    if (is_note(entry.path())) notes.push_back(entry.path());
  }
  std::ranges::sort(notes);
  return notes;
}

/// Names in a folder with their inodes: one look at the folder, however many there are.
std::map<std::string, std::uint64_t> inodes_in(const fs::path& folder) {
  std::map<std::string, std::uint64_t> inodes;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), &::closedir);
  if (!entries) return inodes;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): of a stream of its own
  while (const dirent* const entry = ::readdir(entries.get()))
    inodes[static_cast<const char*>(entry->d_name)] = entry->d_ino;
  return inodes;
}

/// Looks at a run that is open in the catalog. Closes it where its process is gone without a record
/// of its end. Returns nothing where its directory is missing.
std::optional<FoundRun> look_again(const catalog::RunRow& row,
                                   base::Clock& clock,
                                   base::Observer& observer) {
  const home::RunFiles files(row.directory);
  std::error_code code;
  if (!fs::exists(files.directory(), code)) return std::nullopt;
  const auto look = [&] {
    FoundRun run;
    run.record = files.read_record();
    if (run.record) run.said = home::read_statements(files.directory());
    if (!run.record) run.status = files.read_status();
    return run;
  };
  const auto is_open = [](const FoundRun& run) {
    return !run.record && !spec::is_final(run.status.state);
  };
  FoundRun run = look();
  if (!is_open(run) || !home::is_provably_gone(run.status)) return run;
  // It may have ended meanwhile; now that its process is gone, nothing more is written.
  run = look();
  if (!is_open(run)) return run;
  run.status.message = run.status.stage.empty() ? "it was ended before its first stage"
                                                : "it was ended during stage " + run.status.stage;
  run.status.state = spec::RunState::lost;
  if (const std::size_t left = execution::end_leftovers(files.directory()); left > 0) {
    observer.warn("run " + row.id + " was lost: " + std::to_string(left) +
                  " process(es) that it had left were ended");
  }
  try {
    execution::write_lost_record(files, run.status);
  } catch (const std::exception& error) {
    observer.warn(files.directory().string() + ": lost without a record: " + error.what());
  }
  run.status.updated = base::format_rfc3339(clock.now());
  files.write_status(run.status);
  run.record = files.read_record();
  return run;
}

/// Adds the runs of a folder. Throws where it cannot be read, rather than take it for empty.
void add_run_folders(const fs::path& runs, std::vector<fs::path>& folders) {
  std::error_code code;
  const fs::directory_iterator entries(runs, code);
  if (code && code != std::errc::no_such_file_or_directory)
    base::throw_errno(runs.string(), "cannot read", code.value());
  for (const auto& entry : entries) {
    if (spec::is_run_id(entry.path().filename().string())) folders.push_back(entry.path());
  }
}

/// All runs of a home, archived ones too.
std::vector<fs::path> run_folders(const fs::path& runs) {
  std::vector<fs::path> folders;
  add_run_folders(runs, folders);
  std::vector<fs::path> archived;
  add_run_folders(home_of(runs).archive(), archived);
  std::error_code code;
  for (fs::path& run : archived) {
    if (!fs::exists(runs / run.filename(), code)) folders.push_back(std::move(run));
  }
  // What is put into an index in its order is put fast.
  std::ranges::sort(folders, {}, [](const fs::path& run) { return run.filename(); });
  return folders;
}

/// Neither: not a run yet.
struct ReadRun {
  std::optional<FoundRun> run{};
  std::optional<Error> problem{};
};

using Batch = std::vector<ReadRun>;

/// Uses all cores: reading takes most of the time of indexing. `anew`: the catalog is empty.
Batch read_batch(const fs::path* folders, std::size_t count, bool anew) {
  Batch batch(count);
  base::for_each_in_parallel(count, [&](std::size_t i) {
    try {
      if (is_run(folders[i])) batch[i].run = read_run(folders[i]);
      if (anew && batch[i].run && batch[i].run->record)
        batch[i].run->batch = batch_of(folders[i], *batch[i].run->record);
    } catch (const Error& error) {
      batch[i].problem = error;
    }
  });
  return batch;
}

/// Replaces the runs of the catalog by all that exist. Reads the next batch while one is put.
ReindexReport fill(catalog::Catalog& catalog,
                   const fs::path& runs,
                   base::Clock& clock,
                   base::Observer& observer,
                   const std::stop_token& stop) {
  const std::vector<fs::path> folders = run_folders(runs);
  ReindexReport report;
  catalog.forget_all_runs();
  constexpr std::size_t batch_size = 256;
  const auto read_from = [&](std::size_t first) {
    const std::size_t count = std::min(batch_size, folders.size() - first);
    return std::async(std::launch::async, read_batch, folders.data() + first, count, true);
  };
  std::future<Batch> next = read_from(0);
  for (std::size_t first = 0; first < folders.size(); first += batch_size) {
    if (stop.stop_requested()) {
      throw Error(base::ErrorKind::interrupted, "reindex: stopped, the catalog is as it was");
    }
    const Batch batch = next.get();
    if (first + batch_size < folders.size()) next = read_from(first + batch_size);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch[i].problem) {
        observer.warn(batch[i].problem->what(), batch[i].problem->hint());
        ++report.unreadable;
      } else if (batch[i].run) {
        put_run(catalog, *batch[i].run, folders[first + i], observer);
        ++report.indexed;
      }
    }
    observer.progress({"indexing runs", report.indexed, folders.size(), false, false});
  }
  // Nothing says when a run was made whose clock was ahead: it must not hide the others.
  catalog.place_future_runs({}, clock.now());
  catalog.set_filled();
  if (!folders.empty())
    observer.progress({"indexing runs", report.indexed, report.indexed, false, true});
  return report;
}

/// Notes of the inbox, and what became of the runs that they name.
struct ReadNotes {
  std::vector<fs::path> notes{};
  std::vector<std::uint64_t> files{};  ///< inodes of `notes`
  std::set<fs::path> unreadable{};     ///< names of runs
  std::vector<fs::path> news{};        ///< directories of the runs that were put
};

/// Puts the runs that the notes name. The caller has a transaction.
ReadNotes put_notes(catalog::Catalog& catalog,
                    const fs::path& runs,
                    std::vector<fs::path> notes,
                    base::Observer& observer) {
  ReadNotes read{std::move(notes)};
  std::vector<fs::path> folders;  // a run may have two notes, which are neighbours
  for (const fs::path& note : read.notes) {
    folders.push_back(home_of(runs).run(note.stem().string()));
    read.files.push_back(file_at(note));
  }
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  const Batch batch = read_batch(folders.data(), folders.size(), false);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    if (batch[i].problem) {
      observer.warn(batch[i].problem->what(), batch[i].problem->hint());
      read.unreadable.insert(folders[i].filename());
    } else if (batch[i].run) {
      put_run(catalog, *batch[i].run, folders[i], observer);
      read.news.push_back(folders[i]);
    } else if (std::error_code code; !fs::exists(folders[i], code) && !code) {
      catalog.forget_run(folders[i].filename().string());
    }
  }
  return read;
}

/// Returns the directories of the runs that were read.
std::vector<fs::path> take_notes(catalog::Catalog& catalog,
                                 const fs::path& runs,
                                 base::Observer& observer) {
  const fs::path inbox = runs / ".inbox";
  if (notes_in(inbox).empty()) return {};
  catalog::Catalog::Transaction transaction(catalog);
  // Another process may have taken them: of many runs that end at once each is read once.
  ReadNotes read = put_notes(catalog, runs, notes_in(inbox), observer);
  transaction.commit();
  for (std::size_t i = 0; i < read.notes.size(); ++i) {
    // Another note of that name came after the run was read.
    const fs::path& note = read.notes[i];
    if (!read.unreadable.contains(note.stem()) && file_at(note) == read.files[i])
      ::unlink(note.c_str());
  }
  return std::move(read.news);
}

}  // namespace

void index_inbox(catalog::Catalog& catalog,
                 const fs::path& runs,
                 base::Clock& clock,
                 base::Observer& observer,
                 const OnNews& on_news) {
  // What was known is older than what came. The time is taken again: others plan runs meanwhile.
  const std::string newest = catalog.newest_place(clock.now());
  std::vector<fs::path> news = take_notes(catalog, runs, observer);
  catalog.place_future_runs(newest, clock.now());
  home::WrittenBatches is_written;
  for (const auto state : {spec::RunState::planned, spec::RunState::running}) {
    for (const catalog::RunRow& row : catalog.in_state(state)) {
      // Their nodes report the end; RunWatch asks the scheduler for the rest.
      if (!row.batch.empty() && is_written(row.batch)) continue;
      std::optional<FoundRun> run;
      try {
        run = look_again(row, clock, observer);
      } catch (const Error& error) {
        observer.warn(error.what(), error.hint());  // the others are read
      }
      if (!run) continue;
      if (run->record) {
        catalog.put_record(*run->record, row.directory);
        put_said(catalog, row.id, run->record->tags, run->said);
      } else if (run->status.state != row.state) {
        catalog.put_state(row.id, run->status.state, run->status.message);
      } else {
        continue;
      }
      news.emplace_back(row.directory);
    }
  }
  if (!on_news) return;
  for (const fs::path& run : news)
    on_news(run);
}

ReindexReport reindex(catalog::Catalog& catalog,
                      const fs::path& runs,
                      base::Clock& clock,
                      base::Observer& observer,
                      std::stop_token stop) {
  catalog::Catalog::Transaction transaction(catalog);
  const ReindexReport report = fill(catalog, runs, clock, observer, stop);
  transaction.commit();
  index_inbox(catalog, runs, clock, observer);
  return report;
}

std::unique_ptr<catalog::Catalog> open_catalog(const fs::path& file,
                                               const fs::path& runs,
                                               base::Clock& clock,
                                               base::Observer& observer,
                                               std::stop_token stop,
                                               const UpdateCatalog& update) {
  const auto open = [&] {
    auto catalog = std::make_unique<catalog::Catalog>(file);
    if (!catalog->is_filled()) {
      catalog::Catalog::Transaction transaction(*catalog);
      // Another process may have filled it while this one waited for the lock.
      if (!catalog->is_filled()) fill(*catalog, runs, clock, observer, stop);
      transaction.commit();
    }
    try {
      if (update) update(*catalog);
      if (!update) index_inbox(*catalog, runs, clock, observer);
    } catch (const Error& error) {
      // On a full disk, or in another user's home, the catalog can be read all the same.
      if (error.kind() != base::ErrorKind::storage) throw;
      observer.warn(std::string(error.what()) + ": the newest runs may be missing here",
                    error.hint());
    }
    return catalog;
  };
  const std::uint64_t before = file_at(file);
  try {
    return open();
  } catch (const Error& error) {
    // A person set it aside or removed it; another process may have made it again.
    const bool is_same = before != 0 && file_at(file) == before;
    if (error.kind() != base::ErrorKind::catalog || is_same) throw;
    observer.warn(error.what(), "it is made again from the runs that there are");
    return open();
  }
}

void InboxReader::read(catalog::Catalog& catalog, base::Clock& clock, base::Observer& observer) {
  std::map<std::string, std::uint64_t> all = inodes_in(runs_ / ".inbox");
  std::vector<fs::path> fresh;
  for (const auto& [name, inode] : all) {
    const auto known = known_.find(name);
    if (is_note(name) && (known == known_.end() || known->second != inode))
      fresh.push_back(runs_ / ".inbox" / name);
  }
  if (!fresh.empty()) {
    const std::string newest = catalog.newest_place(clock.now());
    catalog::Catalog::Transaction transaction(catalog);
    const ReadNotes read = put_notes(catalog, runs_, std::move(fresh), observer);
    transaction.commit();
    catalog.place_future_runs(newest, clock.now());
  }
  known_ = std::move(all);  // as it was before: what came meanwhile is read the next time
}

void index_documents(catalog::Catalog& catalog,
                     const home::Documents& documents,
                     base::Observer& observer) {
  std::vector<home::BadDocument> bad;
  const auto assets = documents.assets(bad);
  const auto recipes = documents.recipes(bad);
  for (const home::BadDocument& document : bad)
    observer.warn(document.problem);
  catalog::Catalog::Transaction transaction(catalog);
  std::vector<std::string> paths;
  for (const home::AssetDocument& document : assets) {
    paths.push_back(document.path.string());
    catalog.put_asset(document.asset, paths.back());
  }
  for (const home::RecipeDocument& document : recipes) {
    paths.push_back(document.path.string());
    catalog.put_recipe(document.recipe, paths.back());
  }
  catalog.keep_only_documents(paths);
  transaction.commit();
}

}  // namespace sabath::app
