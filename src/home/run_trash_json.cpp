#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/dated_folder.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_trash.hpp>
#include <sabath/spec/run_state.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/stat.h>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr const char* removal_facts_name = "removal.json";
constexpr int removal_letters = 6;
/// Where runs lie, in the home and in the folder of a removal.
constexpr std::array places{"runs", "archive"};

bool is_there(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

[[noreturn]] void throw_unsafe(const fs::path& trash, const std::string& problem) {
  throw Error(
      ErrorKind::storage,
      trash.string() + ": is not used: " + problem,
      "move it out of the home and look at what is in it; the next 'sabath rm' makes a new one");
}

/// The trash, open; nothing where there is none. Throws where others could exchange what is in it.
std::optional<base::Directory> open_trash(const Folders& folders) {
  const fs::path path = folders.trash();
  if (!is_there(path)) return std::nullopt;
  if (!fs::is_directory(fs::symlink_status(path)))
    throw_unsafe(path, "it was replaced by a link or a file");
  const base::Directory home = base::Directory::open(folders.home);
  base::Directory trash = home.beneath("trash");
  if (const auto reason = base::why_kept(home, trash)) throw_unsafe(path, *reason);
  return trash;
}

void make_trash(const Folders& folders) {
  if (open_trash(folders)) return;
  const int code = base::make_marked(base::Directory::open(folders.home), "trash", 0700);
  if (code != 0 && code != EEXIST)
    base::throw_errno(folders.trash().string(), "cannot make the folder", code);
  open_trash(folders);
}

void read_facts(Removal& removal) {
  base::JsonDocument document = base::JsonDocument::load(removal.folder / removal_facts_name);
  base::JsonReader root = document.root();
  root.required("schema");
  removal.at = root.required("at").string();
  removal.by = root.required("by").string();
  root.required("runs").strings();
  root.finish();
  document.finish();
}

/// Where its facts are damaged, its runs can be brought back all the same.
Removal read_removal(const fs::path& folder) {
  Removal removal{folder.filename().string(), {}, {}, {}, folder};
  try {
    read_facts(removal);
  } catch (const Error&) {
    removal.at = removal.by = "unknown";
  }
  for (const char* const place : places) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder / place, code)) {
      const std::string id = entry.path().filename().string();
      if (spec::is_run_id(id)) removal.runs.push_back(id);
    }
  }
  std::ranges::sort(removal.runs);
  removal.runs.erase(std::unique(removal.runs.begin(), removal.runs.end()), removal.runs.end());
  return removal;
}

void move_run(const base::Beneath& beneath, const fs::path& from, const fs::path& to) {
  const std::string name = from.filename().string();
  try {
    if (beneath.rename_no_replace(from, to)) return;
  } catch (const Error& error) {
    struct stat of_run {};
    struct stat of_trash {};
    const bool is_other = ::stat(from.c_str(), &of_run) == 0 &&
                          ::stat(to.parent_path().c_str(), &of_trash) == 0 &&
                          of_run.st_dev != of_trash.st_dev;
    if (!is_other) throw;
    throw Error(ErrorKind::storage,
                from.string() + ": lies on another file system than " + to.parent_path().string() +
                    ", so that it cannot be moved there at once",
                "keep runs/, archive/ and trash/ of a home on one file system");
  }
  throw Error(ErrorKind::storage,
              to.string() + ": exists already, so that run " + name + " stays where it is",
              "move one of the two out of the home");
}

/// After the moves: another process may have read the first notes before the runs went.
void announce_again(const Folders& folders, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (!is_there(folders.runs() / ".inbox" / (id + ".finished")))
      announce(folders.runs() / id, RunEvent::finished);
  }
}

}  // namespace

Removal move_to_trash(const Folders& folders,
                      const std::vector<std::string>& ids,
                      base::Clock& clock,
                      base::Observer& observer) {
  make_trash(folders);
  const fs::path folder = make_dated_folder(folders.trash(), "rm", removal_letters, clock);
  base::mark(base::Directory::open(folder));
  const base::Beneath beneath(folders.home);
  const std::string at = base::format_rfc3339(clock.now());
  const nlohmann::ordered_json facts{
      {"schema", 1}, {"at", at}, {"by", base::user_name()}, {"runs", ids}};
  beneath.write_atomically(folder / removal_facts_name, base::pretty_json(facts));
  for (const char* const place : places)
    beneath.make_directories(folder / place);
  base::Progress progress{
      .task = "moving runs to the trash", .total = ids.size(), .in_bytes = false};
  for (const std::string& id : ids) {
    // Before it: should this process be killed, the catalog learns of it all the same.
    announce(folders.runs() / id, RunEvent::finished);
    for (const char* const place : places) {
      if (is_there(folders.home / place / id))
        move_run(beneath, folders.home / place / id, folder / place / id);
    }
    ++progress.done;
    observer.progress(progress);
  }
  progress.finished = true;
  observer.progress(progress);
  for (const char* const place : places)
    beneath.sync(folder / place);
  announce_again(folders, ids);
  return read_removal(folder);
}

std::vector<Removal> removals(const Folders& folders) {
  std::vector<Removal> found;
  const auto trash = open_trash(folders);
  if (!trash) return found;
  for (const std::string& name : trash->names()) {
    const fs::path folder = folders.trash() / name;
    if (!name.starts_with("rm-") || !is_there(folder / removal_facts_name)) continue;
    found.push_back(read_removal(folder));
  }
  return found;
}

std::optional<std::pair<Removal, std::string>> find_trashed(const Folders& folders,
                                                            const std::string& id) {
  std::optional<std::pair<Removal, std::string>> found;
  for (const Removal& removal : removals(folders)) {
    for (const std::string& run : removal.runs) {
      if (run == id) return std::pair{removal, run};
      if (id.empty() || !run.starts_with(id)) continue;
      if (found) return std::nullopt;
      found = {removal, run};
    }
  }
  return found;
}

void bring_back(const Folders& folders,
                const Removal& removal,
                const std::vector<std::string>& ids,
                base::Observer& observer) {
  open_trash(folders);
  const base::Beneath beneath(folders.home);
  base::Progress progress{.task = "bringing runs back", .total = ids.size(), .in_bytes = false};
  for (const std::string& id : ids) {
    announce(folders.runs() / id, RunEvent::finished);
    for (const char* const place : places) {
      if (!is_there(removal.folder / place / id)) continue;
      base::make_directories(folders.home / place);
      move_run(beneath, removal.folder / place / id, folders.home / place / id);
    }
    ++progress.done;
    observer.progress(progress);
  }
  progress.finished = true;
  observer.progress(progress);
  announce_again(folders, ids);
  if (read_removal(removal.folder).runs.empty()) base::remove_own_tree(beneath, removal.folder);
}

std::vector<ClearedRemoval> clear_trash(const Folders& folders,
                                        base::WallTime now,
                                        bool dry_run,
                                        base::Observer& observer) {
  std::vector<ClearedRemoval> cleared;
  const base::Beneath beneath(folders.home);
  for (const Removal& removal : removals(folders)) {
    const auto at = base::parse_rfc3339(removal.at);
    if (!at || now - *at < kept_in_trash) continue;
    ClearedRemoval one{removal, base::disk_use_of({removal.folder})};
    if (!dry_run && !base::remove_own_tree(beneath, removal.folder)) {
      observer.warn(removal.folder.string() + ": could not be removed as a whole",
                    "remove it by hand");
      continue;
    }
    cleared.push_back(std::move(one));
  }
  return cleared;
}

std::vector<fs::path> folders_of_runs(const Folders& folders) {
  std::vector<fs::path> all{folders.runs(), folders.archive()};
  std::error_code code;
  const fs::directory_iterator entries(folders.trash(), code);
  // What cannot be read is not an empty trash: its runs hold what they need.
  if (code && code != std::errc::no_such_file_or_directory)
    base::throw_errno(folders.trash().string(), "cannot read", code.value());
  for (const auto& entry : entries) {
    for (const char* const place : places)
      all.push_back(entry.path() / place);
  }
  return all;
}

}  // namespace sabath::home
