#include <sabath/base/archive/archive.hpp>
#include <sabath/base/archive/archive_writer.hpp>
#include <sabath/base/beneath.hpp>
#include <sabath/base/disk_use.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/run_state.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <functional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;
using base::ArchiveEntry;
using base::Error;
using base::ErrorKind;

constexpr const char* packed_name = "files.tar.zst";
constexpr const char* facts_name = "archive.json";
/// Kinds of folders in the archive that were moved aside to be compared.
constexpr const char* run_aside = "run";
constexpr const char* archive_aside = "packed";
constexpr std::uint64_t largest_document = 256U << 20U;

/// A digest over paths, contents, links and modes of all files.
std::string digest_of(const std::vector<ArchiveEntry>& entries) {
  base::Hasher hasher;
  for (const ArchiveEntry& one : entries) {
    const nlohmann::json line{one.path, one.digest.hex, one.executable, one.link_target};
    hasher.update(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    hasher.update("\n");
  }
  return hasher.finish().text();
}

struct ArchiveFacts {
  std::string run{};
  std::string content{};
  std::uint64_t files = 0;
  std::uint64_t packed_bytes = 0;
  unsigned mode = 0;  ///< of the run's folder
};

ArchiveFacts read_facts(const fs::path& archived) {
  const fs::path file = archived / facts_name;
  base::JsonDocument document = base::JsonDocument::load(file);
  base::JsonReader root = document.root();
  root.required("schema");
  root.required("at");
  ArchiveFacts facts{root.required("run").string(),
                     root.required("content").string(),
                     root.required("files").unsigned_integer(),
                     root.required("packed_bytes").unsigned_integer(),
                     static_cast<unsigned>(root.required("mode").unsigned_integer()) & 0777U};
  root.finish();
  document.finish();
  return facts;
}

[[noreturn]] void throw_damaged(const fs::path& archived, const std::string& problem) {
  throw Error(ErrorKind::integrity,
              (archived / packed_name).string() + ": " + problem,
              "nothing was removed; put a copy of this file in its place if there is one");
}

/// Before it is read: a file that was cut short has another size.
void check_size(const fs::path& archived, const ArchiveFacts& facts) {
  std::error_code code;
  const std::uint64_t size = fs::file_size(archived / packed_name, code);
  if (code) throw_damaged(archived, "cannot be read: " + code.message());
  if (size == facts.packed_bytes) return;
  throw_damaged(archived,
                "has " + std::to_string(size) + " bytes, but was written with " +
                    std::to_string(facts.packed_bytes));
}

void check_content(const fs::path& archived,
                   const ArchiveFacts& facts,
                   const std::vector<ArchiveEntry>& entries) {
  if (digest_of(entries) != facts.content)
    throw_damaged(archived, "its files are not those that were packed");
}

std::string process_prefix(const std::string& kind) {
  return "." + kind + "-" + base::ProcessIdentity::current().text() + ".";
}

/// The documents of a run: what an index and garbage collection read.
std::vector<fs::path> documents_in(const fs::path& run) {
  std::vector<fs::path> found;
  const auto add_all = [&](const fs::path& folder) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(run / folder, code)) {
      if (entry.path().extension() == ".json" && entry.is_regular_file(code))
        found.push_back(folder / entry.path().filename());
    }
  };
  add_all({});
  std::error_code code;
  const fs::path collections = RunFiles(run).collections().filename();
  for (const auto& entry : fs::directory_iterator(run / collections, code))
    add_all(collections / entry.path().filename());
  return found;
}

void copy_documents(const fs::path& run, const fs::path& to) {
  const base::Beneath from(run);
  const base::Beneath beneath(to);
  for (const fs::path& document : documents_in(run)) {
    const auto content = from.read_if_exists(run / document, largest_document);
    if (!content) continue;
    beneath.make_directories((to / document).parent_path());
    beneath.write_atomically(to / document, content->text);
  }
}

/// Makes HOME/archive with a mark, and opens it. Others must not be able to write to it.
base::Directory archive_folder(const Folders& folders) {
  const base::Directory home = base::Directory::open(folders.home);
  const int code = base::make_marked(home, "archive", 0755);
  if (code != 0 && code != EEXIST)
    base::throw_errno(folders.archive().string(), "cannot make the folder", code);
  require_own_run(folders.archive());
  return base::Directory::open(folders.archive());
}

/// Reads all of a file. Throws Error{interrupted} on a stop.
base::Digest digest_in(const base::Directory& directory,
                       const std::string& name,
                       const std::stop_token& stop) {
  const base::UniqueFd file = directory.open_file(name, O_RDONLY | O_NONBLOCK);
  if (!file) base::throw_errno((directory.path() / name).string(), "cannot read", errno);
  base::Hasher hasher;
  std::vector<std::byte> buffer(1U << 18U);
  while (true) {
    if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "comparing was stopped");
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) base::throw_errno((directory.path() / name).string(), "cannot read", errno);
    if (got == 0) return hasher.finish();
    hasher.update(base::ByteView(buffer).first(static_cast<std::size_t>(got)));
  }
}

std::string target_in(const base::Directory& directory, const std::string& name) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = ::readlinkat(directory.fd(), name.c_str(), target.data(), target.size());
  target.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return target;
}

/// Adds the files beneath a folder, as pack_directory lists them.
void add_entries(const base::Directory& directory,
                 const std::string& above,
                 std::vector<ArchiveEntry>& entries,
                 const std::stop_token& stop) {
  for (const std::string& name : directory.names()) {
    if (above.empty() && name == statements_name) continue;
    const auto status = directory.status_of(name);
    if (!status) continue;
    if (S_ISDIR(status->st_mode)) {
      add_entries(directory.beneath(name), above + name + "/", entries, stop);
      continue;
    }
    ArchiveEntry& entry = entries.emplace_back();
    entry.path = above + name;
    if (S_ISLNK(status->st_mode)) entry.link_target = target_in(directory, name);
    if (!S_ISREG(status->st_mode)) continue;
    entry.digest = digest_in(directory, name, stop);
    entry.executable = (status->st_mode & S_IXUSR) != 0;
  }
}

/// Throws Error{integrity} where a run's folder has other files than its archive.
void require_same_content(const fs::path& folder,
                          const fs::path& archived,
                          const std::string& run,
                          const std::stop_token& stop) {
  const ArchiveFacts facts = read_facts(archived);
  std::vector<ArchiveEntry> entries;
  add_entries(base::Directory::open(folder), "", entries, stop);
  std::ranges::sort(entries, {}, &ArchiveEntry::path);
  if (digest_of(entries) == facts.content) return;
  throw Error(ErrorKind::integrity,
              "run " + run +
                  ": its folder differs from its archive: files were changed or added after they "
                  "were packed",
              "nothing was removed; both are there: move the one that you do not want out of the "
              "home, then repeat the command");
}

/// Where statements can be added to a folder, and none is lost when it goes.
void open_statements(const base::Beneath& beneath, const fs::path& run) {
  beneath.set_mode(run / statements_name, 0755);
  beneath.remove_empty(run / statements_name);
}
void close_statements(const base::Beneath& beneath, const fs::path& run) {
  beneath.make_directories(run / statements_name);
  beneath.set_mode(run / statements_name, 0500);
}

/// Moves a folder back that was moved aside.
void put_back(const base::Beneath& beneath,
              const fs::path& aside,
              const fs::path& place,
              base::Observer& observer) {
  try {
    open_statements(beneath, aside);
    if (beneath.rename_no_replace(aside, place)) return;
    observer.warn(aside.string() + ": stays there, because " + place.string() + " is there again",
                  "move one of the two out of the home");
  } catch (const Error& error) {
    observer.warn(aside.string() + ": cannot be moved back: " + error.what(),
                  "move it to " + place.string());
  }
}

/// Another process may have read the first note while the folder was aside.
void announce_if_possible(const fs::path& run, base::Observer& observer) {
  try {
    announce(run, RunEvent::finished);
  } catch (const Error& error) {
    observer.warn(error.what(), "'sabath catalog reindex' brings the catalog up to date");
  }
}

/// Moves back what killed processes had moved aside and not yet compared.
void return_leftovers(const Folders& folders, base::Observer& observer) {
  const base::Beneath beneath(folders.home);
  for (const std::string& name : base::Directory::open(folders.archive()).names()) {
    for (const auto& [kind, place] : {std::pair<std::string, fs::path>{run_aside, folders.runs()},
                                      {archive_aside, folders.archive()}}) {
      const std::string prefix = "." + kind + "-";
      if (!name.starts_with(prefix)) continue;
      const auto process = base::ProcessIdentity::parse(name.substr(prefix.size()));
      if (!process || base::liveness_of(*process) != base::Liveness::gone) continue;
      const std::size_t length = prefix.size() + process->text().size() + 1;
      const std::string id = name.size() > length ? name.substr(length) : "";
      if (!spec::is_run_id(id)) continue;
      put_back(beneath, folders.archive() / name, place / id, observer);
      announce(folders.runs() / id, RunEvent::finished);
    }
  }
}

/// Removes a run's folder, or an archived run's, whose content lies in `kept` now. It gets another
/// name first, so that nothing half-removed is ever taken for a run. Moves it back where `check`
/// throws, or where what was said cannot be kept.
void remove_moved(const Folders& folders,
                  const fs::path& gone,
                  const fs::path& kept,
                  base::Observer& observer,
                  const std::function<void(const fs::path& aside)>& check) {
  const base::Beneath beneath(folders.home);
  const std::string name = gone.filename().string();
  const std::string kind = is_archived(gone) ? archive_aside : run_aside;
  // Before it: should this process be killed, the catalog learns of it all the same.
  announce(folders.runs() / name, RunEvent::finished);
  const fs::path aside = folders.archive() / (process_prefix(kind) + name);
  if (const int code = beneath.rename(gone, aside); code != 0)
    base::throw_errno(gone.string(), "cannot move it aside", code);
  const fs::path old = folders.archive() / (process_prefix("old") + name);
  try {
    check(aside);
    merge_statements(aside, kept);
    // Nobody adds one from here on; the second look finds the last one.
    close_statements(beneath, aside);
    merge_statements(aside, kept);
    if (const int code = beneath.rename(aside, old); code != 0)
      base::throw_errno(aside.string(), "cannot rename it", code);
  } catch (const std::exception&) {
    put_back(beneath, aside, gone, observer);
    announce_if_possible(folders.runs() / name, observer);
    throw;
  }
  announce(folders.runs() / name, RunEvent::finished);
  if (!base::remove_own_tree(beneath, old))
    observer.warn(old.string() + ": could not be removed as a whole", "remove it by hand");
}

unsigned mode_of(const fs::path& folder) {
  return base::Directory::open(folder).status().st_mode & 0777U;
}

void write_archive_folder(const fs::path& run,
                          const fs::path& staging,
                          base::Clock& clock,
                          base::Observer& observer,
                          const std::stop_token& stop) {
  const auto packed = base::pack_directory(
      base::Directory::open(run), {statements_name}, staging / packed_name, observer, stop);
  if (base::read_archive(staging / packed_name, observer, stop) != packed)
    throw_damaged(staging, "cannot be read back as it was written");
  copy_documents(run, staging);
  merge_statements(run, staging);
  const nlohmann::ordered_json facts{{"schema", 1},
                                     {"run", run.filename().string()},
                                     {"at", base::format_rfc3339(clock.now())},
                                     {"files", packed.size()},
                                     {"packed_bytes", fs::file_size(staging / packed_name)},
                                     {"mode", mode_of(run)},
                                     {"content", digest_of(packed)}};
  base::write_file_atomically(staging / facts_name, base::pretty_json(facts));
}

/// Both are there: a process was killed between the two steps. The archive is complete. Whether the
/// folder has the same files is asked before one of them is removed.
void check_same_run(const fs::path& run,
                    const fs::path& archived,
                    base::Observer& observer,
                    const std::stop_token& stop) {
  const ArchiveFacts facts = read_facts(archived);
  check_size(archived, facts);
  check_content(archived, facts, base::read_archive(archived / packed_name, observer, stop));
  const auto text = base::read_file_if_exists(RunFiles(run).record(), largest_document);
  if (text && text != base::read_file_if_exists(RunFiles(archived).record(), largest_document))
    throw Error(ErrorKind::integrity,
                run.string() + ": there is another run of this id in " + archived.string(),
                "move one of the two folders out of the home");
}

void unpack_files(const fs::path& archived,
                  const fs::path& to,
                  base::Observer& observer,
                  const std::stop_token& stop) {
  const ArchiveFacts facts = read_facts(archived);
  check_size(archived, facts);
  const auto entries =
      base::extract_archive(archived / packed_name, to, base::own_archive_limits(), observer, stop);
  check_content(archived, facts, entries);
}

/// A private folder in the archive; it becomes the archived run by a rename.
base::TempDir staging_in(const fs::path& folder) {
  remove_leftovers(folder, "new");
  remove_leftovers(folder, "old");
  return base::TempDir(folder, process_prefix("new"));
}

}  // namespace

bool is_archived(const fs::path& run) {
  return run.parent_path().filename() == "archive";
}

void require_record(const fs::path& run) {
  if (fs::exists(RunFiles(run).record())) return;
  throw Error(ErrorKind::usage,
              run.string() + ": has no record, so that nothing says what it was",
              "'sabath rm' removes it");
}

void require_one_file_system(const fs::path& from, const fs::path& to) {
  struct stat of_from {};
  struct stat of_to {};
  if (::stat(from.c_str(), &of_from) != 0 || ::stat(to.c_str(), &of_to) != 0 ||
      of_from.st_dev == of_to.st_dev)
    return;
  throw Error(ErrorKind::storage,
              from.string() + ": lies on another file system than " + to.string() +
                  ", so that it cannot be moved there at once",
              "keep runs/, archive/ and trash/ of a home on one file system");
}

fs::path packed_files(const fs::path& archived) {
  return archived / packed_name;
}

void remove_leftovers(const fs::path& folder, const std::string& kind) {
  const std::string prefix = "." + kind + "-";
  const base::Beneath beneath(folder);
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const auto process = base::ProcessIdentity::parse(name.substr(prefix.size()));
    if (process && base::liveness_of(*process) == base::Liveness::gone)
      base::remove_own_tree(beneath, entry.path());
  }
}

fs::path make_unpacking_folder(const Folders& folders) {
  remove_leftovers(folders.home, "unpacked");
  return base::TempDir(folders.home, process_prefix("unpacked")).release();
}

namespace {

void warn_of_changed_outputs(const fs::path& run, base::Observer& observer) {
  try {
    const RunFiles files(run);
    if (const auto record = files.read_record()) require_unchanged_outputs(files, *record);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::integrity) throw;
    observer.warn(std::string(error.what()) + "; the changed file is archived", error.hint());
  }
}

}  // namespace

ArchivedSize archive_run(const Folders& folders,
                         const std::string& id,
                         base::Clock& clock,
                         base::Observer& observer,
                         const std::stop_token& stop) {
  const fs::path run = folders.runs() / id;
  const fs::path archived = folders.archive() / id;
  const base::Directory folder = archive_folder(folders);
  return_leftovers(folders, observer);
  require_own_run(run);
  require_record(run);
  warn_of_changed_outputs(run, observer);
  require_one_file_system(run, folder.path());
  ArchivedSize size{0, base::disk_use_of({run}).disk_bytes, 0};
  if (fs::exists(archived)) {
    check_same_run(run, archived, observer, stop);
  } else {
    const base::TempDir staging = staging_in(folder.path());
    write_archive_folder(run, staging.path(), clock, observer, stop);
    const base::Beneath beneath(folders.home);
    beneath.set_mode(staging.path(), mode_of(run));
    folder.sync();
    if (!beneath.rename_no_replace(staging.path(), archived))
      check_same_run(run, archived, observer, stop);
    folder.sync();
  }
  remove_moved(folders, run, archived, observer, [&](const fs::path& aside) {
    require_same_content(aside, archived, id, stop);
  });
  size.files = read_facts(archived).files;
  size.packed_bytes = base::disk_use_of({archived}).disk_bytes;
  return size;
}

void unpack_run(const fs::path& archived,
                const fs::path& to,
                base::Observer& observer,
                const std::stop_token& stop) {
  unpack_files(archived, to, observer, stop);
  try {
    merge_statements(archived, to);
  } catch (const Error& error) {
    observer.warn(error.what(), "it is not unpacked");
  }
}

void restore_run(const Folders& folders,
                 const std::string& id,
                 base::Observer& observer,
                 const std::stop_token& stop) {
  const fs::path run = folders.runs() / id;
  const fs::path archived = folders.archive() / id;
  const base::Directory folder = archive_folder(folders);
  return_leftovers(folders, observer);
  require_own_run(archived);
  base::make_directories(folders.runs());
  require_one_file_system(archived, folders.runs());
  bool is_made = false;
  if (!fs::exists(run)) {
    const base::TempDir staging = staging_in(folder.path());
    unpack_files(archived, staging.path(), observer, stop);
    merge_statements(archived, staging.path());
    base::sync_file_system(staging.path());
    const base::Beneath beneath(folders.home);
    beneath.set_mode(staging.path(), read_facts(archived).mode);
    is_made = beneath.rename_no_replace(staging.path(), run);
    beneath.sync(folders.runs());
  }
  if (!is_made) check_same_run(run, archived, observer, stop);
  remove_moved(folders, archived, run, observer, [&](const fs::path& aside) {
    require_own_run(run);
    if (!is_made) require_same_content(run, aside, id, stop);
  });
}

}  // namespace sabath::home
