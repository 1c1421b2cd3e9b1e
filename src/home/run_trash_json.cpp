#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/dated_folder.hpp>
#include <sabath/home/run_archive.hpp>
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
/// Begins the name of a removal that is being removed for good.
constexpr const char* gone_prefix = ".gone-";
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

/// The ids in a folder of runs; empty where that folder is missing.
std::vector<std::string> ids_in(const fs::path& folder) {
  std::vector<std::string> ids;
  try {
    for (const std::string& name : base::Directory::open(folder).names()) {
      if (spec::is_run_id(name)) ids.push_back(name);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found) throw;
  }
  return ids;
}

/// Where its facts are damaged or missing, its runs can be brought back all the same.
Removal read_removal(const fs::path& folder) {
  Removal removal{folder.filename().string(), {}, {}, {}, folder};
  try {
    read_facts(removal);
  } catch (const Error&) {
    removal.at = removal.by = "unknown";
  }
  for (const char* const place : places) {
    const std::vector<std::string> ids = ids_in(folder / place);
    removal.runs.insert(removal.runs.end(), ids.begin(), ids.end());
  }
  std::ranges::sort(removal.runs);
  removal.runs.erase(std::unique(removal.runs.begin(), removal.runs.end()), removal.runs.end());
  return removal;
}

/// When a removal was made: as its facts say, or else its name, rm-<YYYYMMDD>-<hhmmss>-<letters>.
std::string time_of(const Removal& removal) {
  const std::string& name = removal.name;
  if (base::parse_rfc3339(removal.at) || name.size() < 18) return removal.at;
  return name.substr(3, 4) + "-" + name.substr(7, 2) + "-" + name.substr(9, 2) + "T" +
         name.substr(12, 2) + ":" + name.substr(14, 2) + ":" + name.substr(16, 2) + "Z";
}

/// Removes the folder of a removal in which nothing is left. Another process may move runs there
/// at this moment: each folder goes by itself, and only if it is empty.
void remove_if_empty(const base::Beneath& beneath, const fs::path& folder) {
  for (const char* const place : places) {
    const int code = beneath.remove_empty(folder / place);
    if (code != 0 && code != ENOENT) return;
  }
  for (const std::string& name : beneath.directory(folder).names()) {
    if (name != removal_facts_name && name != base::made_mark) return;
  }
  beneath.unlink(folder / removal_facts_name);
  beneath.unlink(folder / base::made_mark);
  beneath.remove_empty(folder);
}

void move_run(const base::Beneath& beneath, const fs::path& from, const fs::path& to) {
  const std::string name = from.filename().string();
  try {
    if (beneath.rename_no_replace(from, to)) return;
  } catch (const Error&) {
    require_one_file_system(from, to.parent_path());
    throw;
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

void warn_of_rest(const fs::path& folder, base::Observer& observer) {
  observer.warn(folder.string() + ": could not be removed as a whole", "remove it by hand");
}

/// Removes what an earlier call that was killed left of removals.
void remove_gone(const Folders& folders, base::Observer& observer) {
  const auto trash = open_trash(folders);
  if (!trash) return;
  const base::Beneath beneath(folders.home);
  for (const std::string& name : trash->names()) {
    if (!name.starts_with(gone_prefix)) continue;
    if (!base::remove_own_tree(beneath, folders.trash() / name))
      warn_of_rest(folders.trash() / name, observer);
  }
}

/// Removes a removal for good. It gets another name first: no half of it can be brought back.
bool remove_removal(const base::Beneath& beneath,
                    const Removal& removal,
                    base::Observer& observer) {
  const fs::path gone = removal.folder.parent_path() / (gone_prefix + removal.name);
  if (!base::why_kept(beneath, removal.folder) && beneath.rename(removal.folder, gone) == 0) {
    if (!base::remove_own_tree(beneath, gone)) warn_of_rest(gone, observer);
    return true;
  }
  warn_of_rest(removal.folder, observer);
  return false;
}

/// "; moved before that: A, B and 3 more"
std::string moved_text(const std::vector<std::string>& moved) {
  constexpr std::size_t most_named = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(moved.size(), most_named); ++i)
    text += (text.empty() ? "" : ", ") + moved[i];
  if (moved.size() > most_named)
    text += " and " + std::to_string(moved.size() - most_named) + " more";
  return text.empty() ? "; no run was moved" : "; moved before that: " + text;
}

/// A move of runs from one folder with runs/ and archive/ to another.
struct RunMove {
  fs::path from{};
  fs::path to{};
  std::vector<std::string> moved{};
};

void move_each(const Folders& folders,
               const std::vector<std::string>& ids,
               RunMove& move,
               base::Progress& progress,
               base::Observer& observer) {
  const base::Beneath beneath(folders.home);
  for (const std::string& id : ids) {
    for (const char* const place : places) {
      if (!is_there(move.from / place / id)) continue;
      if (move.to == folders.home) base::make_directories(move.to / place);
      // Before it: should this process be killed, the catalog learns of it all the same.
      announce(folders.runs() / id, RunEvent::finished);
      move_run(beneath, move.from / place / id, move.to / place / id);
      if (move.moved.empty() || move.moved.back() != id) move.moved.push_back(id);
    }
    ++progress.done;
    observer.progress(progress);
  }
}

/// Moves runs, and announces those that were moved in every case. Returns them; an error names
/// them.
std::vector<std::string> move_all(const Folders& folders,
                                  const std::vector<std::string>& ids,
                                  const fs::path& from,
                                  const fs::path& to,
                                  const std::string& task,
                                  base::Observer& observer) {
  RunMove move{from, to, {}};
  base::Progress progress{.task = task, .total = ids.size(), .in_bytes = false};
  const auto end = [&] {
    progress.finished = true;
    observer.progress(progress);
    announce_again(folders, move.moved);
  };
  try {
    move_each(folders, ids, move, progress, observer);
  } catch (const Error& error) {
    try {
      end();
    } catch (const Error& unannounced) {
      observer.warn(unannounced.what(), "'sabath catalog reindex' brings the catalog up to date");
    }
    throw Error(error.kind(), error.what() + moved_text(move.moved), error.hint());
  }
  end();
  return move.moved;
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
  try {
    const auto moved =
        move_all(folders, ids, folders.home, folder, "moving runs to the trash", observer);
    for (const char* const place : places)
      beneath.sync(folder / place);
    if (moved.empty()) remove_if_empty(beneath, folder);
    Removal removal{folder.filename().string(), at, base::user_name(), moved, folder};
    std::ranges::sort(removal.runs);
    return removal;
  } catch (const Error&) {
    remove_if_empty(beneath, folder);
    throw;
  }
}

std::vector<Removal> removals(const Folders& folders) {
  std::vector<Removal> found;
  const auto trash = open_trash(folders);
  if (!trash) return found;
  for (const std::string& name : trash->names()) {
    const fs::path folder = folders.trash() / name;
    if (name.starts_with("rm-") && fs::is_directory(fs::symlink_status(folder)))
      found.push_back(read_removal(folder));
  }
  std::ranges::sort(
      found, {}, [](const Removal& one) { return std::pair(time_of(one), one.name); });
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

std::vector<std::string> bring_back(const Folders& folders,
                                    const Removal& removal,
                                    const std::vector<std::string>& ids,
                                    base::Observer& observer) {
  open_trash(folders);
  auto moved = move_all(folders, ids, removal.folder, folders.home, "bringing runs back", observer);
  if (is_there(removal.folder)) remove_if_empty(base::Beneath(folders.home), removal.folder);
  return moved;
}

std::vector<ClearedRemoval> clear_trash(const Folders& folders,
                                        base::WallTime now,
                                        bool dry_run,
                                        base::Observer& observer) {
  std::vector<ClearedRemoval> cleared;
  const base::Beneath beneath(folders.home);
  if (!dry_run) remove_gone(folders, observer);
  for (const Removal& removal : removals(folders)) {
    // Runs stay where the time of their removal is unknown.
    const auto at = base::parse_rfc3339(removal.runs.empty() ? time_of(removal) : removal.at);
    if (!at || now - *at < kept_in_trash) continue;
    ClearedRemoval one{removal, base::disk_use_of({removal.folder})};
    if (!dry_run && !remove_removal(beneath, removal, observer)) continue;
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
