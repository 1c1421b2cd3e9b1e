#include "key_folder.hpp"

#include "prefix.hpp"
#include "prefix_checks.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/own_tree.hpp>

#include <algorithm>
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

/// Of whoever was killed before he wrote down what he does. A folder with anything else in it was
/// made, or moved here, by another.
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

constexpr auto patience_with_nameless = std::chrono::hours(24);

bool is_abandoned(const AttemptRecord& record, base::WallTime now, std::chrono::seconds patience) {
  if (record.state == "failed") return true;
  const auto liveness = base::liveness_of(record.builder);
  if (liveness != base::Liveness::unknown) return liveness == base::Liveness::gone;
  const auto started = base::parse_rfc3339(record.started);
  return started && *started + patience < now;
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
    // One that others may use and this user may not is none for this user.
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
  // Prefixes know their own path: one that was moved, or is seen from elsewhere, is not this one.
  if (record->layer.prefix != folder.prefix().string()) return std::nullopt;
  if (!fs::is_directory(folder.prefix(), code) || missing_library(record->present))
    return std::nullopt;
  return FoundAttempt{folder, *record};
}

std::vector<FoundAttempt> KeyFolder::attempts() const {
  std::vector<FoundAttempt> found;
  std::error_code code;
  for (fs::directory_iterator at(path_, code); !code && at != fs::directory_iterator();
       at.increment(code)) {
    std::error_code status_code;
    if (at->is_symlink(status_code) || !at->is_directory(status_code)) continue;
    if (auto attempt = attempt_at(at->path())) found.push_back(std::move(*attempt));
  }
  std::sort(found.begin(), found.end(), [](const FoundAttempt& a, const FoundAttempt& b) {
    return a.record.started < b.record.started;
  });
  return found;
}

AttemptFolder KeyFolder::begin() const {
  make_own_folder(path_);
  AttemptFolder attempt;
  do {
    attempt.path = path_ / random_name();
  } while (!make_new_folder(attempt.path));
  make_new_folder(attempt.prefix());
  make_new_folder(attempt.work());
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
    std::error_code code;
    for (fs::directory_iterator at(folder, code); !code && at != fs::directory_iterator();
         at.increment(code)) {
      std::error_code gone;
      const bool is_folder = fs::is_directory(at->symlink_status(gone));
      if (is_folder && is_meant(at->path()) && is_older(at->path(), now - patience_with_nameless))
        found.push_back(at->path());
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
    // Looked at only now: a builder that is gone can no longer publish, but it may have just
    // before.
    std::error_code code;
    if (attempt.folder.path.filename() == fs::read_symlink(path_ / current, code)) continue;
    // What cannot be removed now (a compiler whose builder was killed still writes) is tried again
    // next time.
    base::remove_own_tree(attempt.folder.path);
  }
}

void KeyFolder::remove() const {
  const fs::path link = path_ / current;
  const auto [kind, name] = base::Beneath::anywhere().parent_of(path_);
  const base::Directory folder = kind.beneath(name);
  if (const int code = folder.unlink(std::string(current)); code != 0 && code != ENOENT)
    base::throw_errno(link.string(), "cannot remove", code);
  for (const FoundAttempt& attempt : attempts())
    base::remove_own_tree(attempt.folder.path);
  for (const fs::path& remains : nameless_remains(base::WallTime::max()))
    base::remove_own_tree(remains);
  for (const std::string& inner : folder.names()) {
    const bool is_hidden_link = inner.starts_with(".") && folder.unlink(inner) == 0;
    if (!is_hidden_link) folder.remove_empty(inner);  // such as that of leases
  }
  if (kind.remove_empty(name) != 0) {
    throw base::Error(base::ErrorKind::storage, path_.string() + ": cannot remove all of it");
  }
}

}  // namespace sabath::env
