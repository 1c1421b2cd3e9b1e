#include "key_folder.hpp"

#include "prefix_checks.hpp"
#include "prefix_files.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/write_access.hpp>
#include <sabath/env/environment.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <random>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view current = "current";
constexpr int random_name_length = 8;

std::string random_name() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device source;
  std::uniform_int_distribution<std::size_t> pick(0, letters.size() - 1);
  std::string name;
  for (int i = 0; i < random_name_length; ++i)
    name += letters[pick(source)];
  return name;
}

std::optional<FoundAttempt> attempt_at(const fs::path& path) {
  const AttemptFolder folder{path};
  auto record = read_attempt_record(folder.record());
  if (!record) record = read_attempt_record(folder.beginning());
  if (!record) return std::nullopt;
  return FoundAttempt{folder, *record};
}

/// Returns true for folders with files of builders only. A folder with other files was made or
/// moved here by somebody else.
bool has_only_our_names(const AttemptFolder& attempt) {
  const std::string name = attempt.path.filename().string();
  if (name == leases_name || name.size() != random_name_length) return false;
  std::error_code code;
  for (fs::directory_iterator at(attempt.path, code); !code && at != fs::directory_iterator();
       at.increment(code)) {
    const fs::path& path = at->path();
    const std::string inner = path.filename().string();
    const bool is_ours = path == attempt.prefix() || path == attempt.work() ||
                         path == attempt.log() || inner.starts_with(".sabath-") ||
                         inner.starts_with(packing_beginning) || inner.starts_with("check-") ||
                         path.extension() == ".squashfs";
    if (!is_ours) return false;
  }
  return !code;
}

/// Makes the folder of a new attempt. Returns false where the name is taken.
bool make_attempt(const fs::path& path) {
  const auto [parent, name] = base::Beneath::anywhere().parent_of(path);
  const int code = base::make_marked(parent, name, 0755);
  if (code != 0 && code != EEXIST) base::throw_errno(path.string(), "cannot make", code);
  return code == 0;
}

/// Marks an attempt that an older version made: it has a record that only this user can have put
/// there.
void mark_older(const AttemptFolder& attempt) {
  try {
    const base::Beneath inside(base::Beneath::anywhere().directory(attempt.path));
    const base::Directory folder = inside.directory(inside.root());
    if (folder.status().st_uid != ::geteuid() || base::can_others_write(folder.fd())) return;
    for (const fs::path& file : {attempt.record(), attempt.beginning()}) {
      const auto record = inside.read_if_exists(file);
      if (!record || record->status->st_uid != ::geteuid()) continue;
      if (parse_attempt_record(record->text)) base::mark(folder);
    }
  } catch (const base::Error&) {
    return;  // it is not readable, and stays
  }
}

void remove_attempt(const AttemptFolder& attempt) {
  mark_older(attempt);
  base::remove_own_tree(attempt.path);
}

constexpr auto patience_with_nameless = std::chrono::hours(24);

bool is_abandoned(const AttemptRecord& record, base::WallTime now, std::chrono::seconds patience) {
  if (record.state == "failed") return true;
  const auto liveness = base::liveness_of(record.builder);
  if (liveness != base::Liveness::unknown) return liveness == base::Liveness::gone;
  const auto started = base::parse_rfc3339(record.started);
  return started && *started + patience < now;
}

/// A process on another host cannot be seen: its lease is valid for this time.
constexpr auto lease_patience = std::chrono::hours(24 * 7);

fs::path leases_of(const fs::path& key_folder) {
  return key_folder / leases_name;
}

}  // namespace

bool is_older(const fs::path& path, base::WallTime cut) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 &&
         base::WallTime(std::chrono::seconds(status.st_mtim.tv_sec)) < cut;
}

std::optional<std::string> missing_library(const std::map<std::string, std::string>& present) {
  for (const auto& [name, path] : present) {
    const bool is_program = name == "python.executable";
    const bool is_needed = is_program || name.starts_with("library.");
    if (!is_needed || !path.starts_with('/')) continue;
    // A library that this user may not read counts as missing.
    const bool usable =
        ::faccessat(AT_FDCWD, path.c_str(), is_program ? X_OK : R_OK, AT_EACCESS) == 0;
    if (!usable && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) return path;
  }
  return std::nullopt;
}

std::optional<FoundAttempt> KeyFolder::ready() const {
  std::error_code code;
  const fs::path target = fs::read_symlink(path_ / current, code);
  if (code || !base::is_safe_name(target.string())) return std::nullopt;
  const AttemptFolder folder{path_ / target};
  auto record = read_attempt_record(folder.record());
  if (!record || record->state != "ready") return std::nullopt;
  add_checked(folder, record->present);
  // Prefixes know their own path: a moved prefix, or one seen through another path, is not valid.
  if (record->layer.prefix != folder.prefix().string()) return std::nullopt;
  if (!fs::is_directory(folder.prefix(), code) || missing_library(record->present))
    return std::nullopt;
  return FoundAttempt{folder, *record};
}

std::vector<FoundAttempt> KeyFolder::attempts() const {
  std::vector<FoundAttempt> found;
  for (const fs::directory_entry& entry : entries_in(path_)) {
    std::error_code status_code;
    if (entry.is_symlink(status_code) || !entry.is_directory(status_code)) continue;
    if (auto attempt = attempt_at(entry.path())) found.push_back(std::move(*attempt));
  }
  std::ranges::sort(found, [](const FoundAttempt& a, const FoundAttempt& b) {
    return a.record.started < b.record.started;
  });
  return found;
}

AttemptFolder KeyFolder::begin() const {
  make_own_folder(path_);
  AttemptFolder attempt;
  do {
    attempt.path = path_ / random_name();
  } while (!make_attempt(attempt.path));
  // A build makes folders that its group may write to: until they are sealed, nobody else comes
  // near them, and can move something in.
  make_new_folder(attempt.prefix(), 0700);
  make_new_folder(attempt.work(), 0700);
  return attempt;
}

bool KeyFolder::publish(const AttemptFolder& attempt) const {
  const fs::path link = path_ / current;
  const std::string target = attempt.path.filename().string();
  const base::Directory folder = base::Beneath::anywhere().directory(path_);
  if (int code = folder.make_link(target, std::string(current)); code != 0) {
    if (code != EEXIST) base::throw_errno(link.string(), "cannot make", code);
    if (ready()) return false;
    const std::string fresh = "." + target;
    code = folder.make_link(target, fresh);
    if (code == 0) code = folder.rename(fresh, folder, std::string(current));
    if (code != 0) base::throw_errno(link.string(), "cannot replace", code);
  }
  folder.sync();
  return true;
}

std::vector<fs::path> KeyFolder::nameless_remains(base::WallTime now) const {
  std::vector<fs::path> found;
  const auto look = [&](const fs::path& folder, const auto& is_meant) {
    for (const fs::directory_entry& entry : entries_in(folder)) {
      std::error_code gone;
      const bool is_folder = fs::is_directory(entry.symlink_status(gone));
      if (is_folder && is_meant(entry.path()) &&
          is_older(entry.path(), now - patience_with_nameless))
        found.push_back(entry.path());
    }
  };
  look(path_, [](const fs::path& path) {
    const AttemptFolder attempt{path};
    std::error_code code;
    return has_only_our_names(attempt) && !fs::exists(attempt.beginning(), code) &&
           !fs::exists(attempt.record(), code);
  });
  for (const FoundAttempt& attempt : attempts()) {
    look(attempt.folder.path, [](const fs::path& path) {
      return path.filename().string().starts_with(packing_beginning);
    });
  }
  return found;
}

void KeyFolder::remove_remains(base::WallTime now, std::chrono::seconds patience) const {
  for (const fs::path& remains : nameless_remains(now))
    base::remove_own_tree(remains);
  for (const FoundAttempt& attempt : attempts()) {
    if (!is_abandoned(attempt.record, now, patience)) continue;
    // Checked last: a builder that is gone cannot publish any more, but may have done so before.
    std::error_code code;
    if (attempt.folder.path.filename() == fs::read_symlink(path_ / current, code)) continue;
    // Removal may fail now, where a compiler of a killed builder still writes. It is tried again
    // next time.
    remove_attempt(attempt.folder);
  }
}

void KeyFolder::remove() const {
  const fs::path link = path_ / current;
  const auto [kind, name] = base::Beneath::anywhere().parent_of(path_);
  const base::Directory folder = kind.beneath(name);
  const auto is_link = [&](const std::string& inner) {
    const auto status = folder.status_of(inner);
    return status && S_ISLNK(status->st_mode);
  };
  const int code = is_link(std::string(current)) ? folder.unlink(std::string(current)) : 0;
  if (code != 0 && code != ENOENT) base::throw_errno(link.string(), "cannot remove", code);
  for (const FoundAttempt& attempt : attempts())
    remove_attempt(attempt.folder);
  for (const fs::path& remains : nameless_remains(base::WallTime::max()))
    base::remove_own_tree(remains);
  for (const std::string& inner : folder.names()) {
    if (inner.starts_with(".") && is_link(inner)) {
      folder.unlink(inner);  // one that was to become `current`
    } else {
      folder.remove_empty(inner);  // such as the folder of leases
    }
  }
  if (kind.remove_empty(name) != 0) {
    throw base::Error(base::ErrorKind::storage, path_.string() + ": cannot remove all of it");
  }
}

std::vector<std::string> lessees(const fs::path& key_folder, base::WallTime now) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : entries_in(leases_of(key_folder))) {
    const std::string name = entry.path().filename().string();
    const auto process = base::ProcessIdentity::parse(name);
    struct stat status {};
    if (!process || ::lstat(entry.path().c_str(), &status) != 0) continue;
    const auto liveness = base::liveness_of(*process);
    const base::WallTime made(std::chrono::seconds(status.st_mtim.tv_sec));
    if (liveness == base::Liveness::running ||
        (liveness == base::Liveness::unknown && made + lease_patience > now)) {
      found.push_back("process " + std::to_string(process->pid));
    } else {
      base::Beneath::anywhere().unlink(entry.path());
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

EnvironmentLease::EnvironmentLease(const spec::BuiltEnvironment& environment) {
  static std::atomic<unsigned> count{0};
  const std::string name = base::ProcessIdentity::current().text() + "." + std::to_string(++count);
  for (const spec::BuiltLayer& layer : environment.layers) {
    if (layer.prefix.empty()) continue;
    // <key>/<attempt>/prefix
    const fs::path folder = leases_of(fs::path(layer.prefix).parent_path().parent_path());
    try {
      make_own_folder(folder);
      base::Beneath::anywhere().write_atomically(folder / name, "", base::Durability::ordered_only);
      files_.push_back(folder / name);
    } catch (const base::Error&) {
      // A cache of another user: its owner sees the runs that use it.
      continue;
    }
  }
}

EnvironmentLease::~EnvironmentLease() {
  for (const fs::path& file : files_)
    base::Beneath::anywhere().unlink(file);
}

}  // namespace sabath::env
