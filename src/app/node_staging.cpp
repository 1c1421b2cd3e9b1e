#include "node_staging.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process.hpp>
#include <sabath/base/process_identity.hpp>
#include <sabath/base/text_table.hpp>
#include <sabath/env/container_command.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::ProcessIdentity;

constexpr std::string_view scratch_head = "sabath-work-";
constexpr std::string_view gone_head = ".gone-";
constexpr auto pause = std::chrono::milliseconds(50);
constexpr std::uint64_t spare_bytes = std::uint64_t{64} << 20U;

fs::path users_of(const fs::path& place) {
  return place / "users";
}
fs::path closing_of(const fs::path& place) {
  return place / "closing";
}
fs::path maker_of(const fs::path& place) {
  return place / "maker";
}

std::string own_text() {
  return ProcessIdentity::current().text();
}

/// Nobody knows of a process that is gone, or of a text that names none.
bool is_gone(const std::string& text) {
  const auto process = ProcessIdentity::parse(text);
  return !process || base::liveness_of(*process) == base::Liveness::gone;
}

/// A file of this process, removed with this.
class OwnFile {
 public:
  explicit OwnFile(fs::path file) : file_(std::move(file)) {}
  ~OwnFile() {
    std::error_code code;
    fs::remove(file_, code);
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

 private:
  fs::path file_;
};

bool take(const fs::path& file);

/// Removes a file whose holder is gone. Between reading and removing it, it may become that of
/// another who found the same: so it is read again by the one who alone may remove what the holder
/// left. False where somebody has it.
bool is_freed(const fs::path& file) {
  const auto holder = base::read_file_if_exists(file);
  if (!holder) return true;
  if (!is_gone(*holder)) return false;
  std::error_code code;
  const fs::path right = file.parent_path() / ("after-" + base::sha256_of(*holder).hex);
  if (right == file) return fs::remove(file, code);  // no process has written that
  if (!take(right)) return false;
  const OwnFile held(right);
  return base::read_file_if_exists(file) == holder && fs::remove(file, code);
}

/// The file is this process's alone, until it is removed or this process is gone.
bool take(const fs::path& file) {
  const std::string self = own_text();
  return base::write_file_once(file, self) || (is_freed(file) && base::write_file_once(file, self));
}

/// Those that are gone are forgotten. Where it cannot be told, somebody may use it.
bool has_users(const fs::path& place) noexcept {
  try {
    if (!fs::exists(users_of(place))) return false;
    bool any = false;
    for (const auto& entry : fs::directory_iterator(users_of(place))) {
      std::error_code none;
      if (is_gone(entry.path().filename().string())) {
        fs::remove(entry.path(), none);
      } else {
        any = true;
      }
    }
    return any;
  } catch (const std::exception&) {
    return true;
  }
}

/// Removes a copy that nobody uses. One who comes says first that he uses it, and looks then
/// whether it is being removed; this says first that it removes it, and looks then who uses it: at
/// least one of both sees the other.
void remove_unused(const fs::path& place) noexcept {
  try {
    std::error_code code;
    if (!fs::is_directory(place, code) || has_users(place)) return;
    const fs::path gone = place.parent_path() /
                          (std::string(gone_head) + own_text() + "-" + place.filename().string());
    if (!take(closing_of(place))) return;
    if (has_users(place)) {
      fs::remove(closing_of(place), code);
      return;
    }
    fs::rename(place, gone, code);
    base::remove_tree(code ? place : gone);
  } catch (const std::exception&) {
    return;  // the next one does it
  }
}

/// Of one who was killed while he removed the copy.
void forget_closer(const fs::path& place) {
  try {
    is_freed(closing_of(place));
  } catch (const Error&) {
    return;  // it is being removed at this moment
  }
}

bool is_digest(std::string_view text) {
  return text.size() >= 32 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isxdigit(c) != 0;
         });
}

/// Nothing that is not a copy by its name and by what is in it.
void remove_all_unused(const fs::path& root) {
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    std::error_code none;
    if (!fs::is_directory(entry.symlink_status(none))) continue;
    if (!fs::is_directory(fs::symlink_status(users_of(entry.path()), none))) continue;
    if (name.starts_with(gone_head) && is_digest(name.substr(name.rfind('-') + 1))) {
      base::remove_tree(entry.path());
    } else if (is_digest(name)) {
      remove_unused(entry.path());
    }
  }
}

/// The name of the folder is known to everybody, and others may write where it lies: it is used
/// when it is this user's own, and no link.
bool is_own_folder(const fs::path& root, base::Observer& observer) {
  base::make_directories(root.parent_path());
  if (::mkdir(root.c_str(), 0700) != 0 && errno != EEXIST)
    base::throw_errno(root.string(), "cannot make the folder", errno);
  struct stat status {};
  const bool is_own = ::lstat(root.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                      status.st_uid == ::geteuid();
  if (!is_own) {
    observer.warn(root.string() + ": is not a folder of this user's own",
                  "nothing is copied to this node");
    return false;
  }
  if ((status.st_mode & 0777U) != 0700U) fs::permissions(root, fs::perms::owner_all);
  return true;
}

/// One who removes what nobody uses may take the folder away at any moment before this has ended.
void become_user(const fs::path& place, base::Clock& clock) {
  constexpr int most_tries = 20;
  for (int tries = 1;; ++tries) {
    try {
      base::make_directories(users_of(place));
      base::write_file_once(users_of(place) / own_text(), "");
      return;
    } catch (const Error&) {
      if (tries == most_tries) throw;
    }
    clock.sleep_for(pause);
  }
}

/// What a copy of a folder is made of. Links are followed, since a copy needs nothing else; but for
/// those to a folder that is copied anyway, which may lie around them.
class CopyList {
 public:
  struct Entry {
    enum class Kind { folder, file, link };
    Kind kind = Kind::file;
    fs::path from{};  ///< what a link of the copy leads to
    fs::path to{};
  };
  using Visit = std::function<void(const Entry&)>;

  CopyList(const fs::path& source, const fs::path& copy, const Visit& visit) : visit_(visit) {
    if (fs::is_regular_file(source)) {
      visit_({Entry::Kind::file, source, copy});
    } else {
      roots_.emplace_back(fs::canonical(source), copy);
      add_folder(source, copy);
    }
  }

 private:
  void add_folder(const fs::path& from, const fs::path& to) {
    visit_({Entry::Kind::folder, from, to});
    for (const auto& entry : fs::directory_iterator(from)) {
      std::error_code code;
      const fs::file_status status = entry.status(code);
      // What leads nowhere, or to itself, leads nowhere in the copy either.
      const bool is_nothing = status.type() == fs::file_type::not_found ||
                              code == std::errc::too_many_symbolic_link_levels;
      if (is_nothing) continue;
      if (code) throw fs::filesystem_error("cannot be looked at", entry.path(), code);
      const fs::path own = to / entry.path().filename();
      if (fs::is_regular_file(status)) visit_({Entry::Kind::file, entry.path(), own});
      if (!fs::is_directory(status)) continue;
      if (entry.is_symlink()) {
        follow(entry.path(), own);
      } else {
        add_folder(entry.path(), own);
      }
    }
  }

  void follow(const fs::path& link, const fs::path& own) {
    const fs::path target = fs::canonical(link);
    for (const auto& [root, copy] : roots_) {
      if (!base::is_beneath(target, root)) continue;
      const fs::path inside = target.lexically_relative(root);
      const fs::path there = inside == "." ? copy : copy / inside;
      return visit_({Entry::Kind::link, there.lexically_relative(own.parent_path()), own});
    }
    roots_.emplace_back(target, own);
    add_folder(link, own);
  }

  const Visit& visit_;
  std::vector<std::pair<fs::path, fs::path>> roots_{};  ///< without links -> its copy
};

/// What a copy of it takes.
std::uint64_t size_of(const fs::path& source) {
  std::uint64_t bytes = 0;
  CopyList(source, "/", [&](const CopyList::Entry& entry) {
    if (entry.kind == CopyList::Entry::Kind::file) bytes += fs::file_size(entry.from);
  });
  return bytes;
}

void copy_one(const fs::path& source, const fs::path& copy) {
  fs::copy_file(source, copy);
  if (fs::file_size(source) == fs::file_size(copy)) return;
  throw Error(ErrorKind::storage, copy.string() + ": is not as long as " + source.string());
}

void copy_all(const fs::path& source, const fs::path& copy, const std::stop_token& stop) {
  CopyList(source, copy, [&](const CopyList::Entry& entry) {
    if (stop.stop_requested())
      throw Error(ErrorKind::interrupted, "interrupted while inputs were copied to the node");
    using Kind = CopyList::Entry::Kind;
    if (entry.kind == Kind::folder) fs::create_directories(entry.to);
    if (entry.kind == Kind::file) copy_one(entry.from, entry.to);
    if (entry.kind == Kind::link) fs::create_directory_symlink(entry.from, entry.to);
  });
}

/// The copy is others', too: nobody is to write into it.
void make_read_only(const fs::path& path) {
  constexpr auto all_read = static_cast<fs::perms>(0444);
  constexpr auto all_enter = static_cast<fs::perms>(0555);
  const auto close = [&](const fs::path& file) {
    const fs::file_status status = fs::symlink_status(file);
    if (fs::is_symlink(status)) return;
    const bool is_entered = fs::is_directory(status) ||
                            (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
    fs::permissions(file, is_entered ? all_enter : all_read);
  };
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::recursive_directory_iterator(path))
      close(entry.path());
  }
  close(path);
}

/// False where there is no room. The copy is there when it is whole.
bool fill(const fs::path& place,
          const fs::path& source,
          base::Observer& observer,
          const std::stop_token& stop) {
  const std::uint64_t bytes = size_of(source);
  const std::uint64_t free_bytes = fs::space(place).available;
  if (bytes + spare_bytes > free_bytes) {
    observer.warn(source.string() + ": is not copied to this node: it takes " +
                      base::format_bytes(bytes) + ", and " + place.parent_path().string() +
                      " has " + base::format_bytes(free_bytes),
                  "it is read where it is");
    return false;
  }
  const fs::path unfinished = place / ("making-" + own_text());
  base::remove_tree(unfinished);
  try {
    copy_all(source, unfinished, stop);
    make_read_only(unfinished);
  } catch (...) {
    base::remove_tree(unfinished);
    throw;
  }
  fs::rename(unfinished, place / "data");
  return true;
}

}  // namespace

std::optional<fs::path> expanded(const std::string& path, base::Observer& observer) {
  if (path.empty()) return std::nullopt;
  std::string text = path;
  if (text.front() == '$') {
    const bool braced = text.size() > 1 && text[1] == '{';
    const std::size_t from = braced ? 2 : 1;
    const std::size_t to = std::min(text.find_first_of(braced ? "}" : "/", from), text.size());
    const base::Environment environment = base::current_environment();
    const auto value = environment.find(text.substr(from, to - from));
    const std::string rest = to < text.size() ? text.substr(to + (braced ? 1 : 0)) : std::string();
    text = value == environment.end() ? std::string() : value->second + rest;
  }
  if (!text.empty() && text.front() == '/') return fs::path(text);
  observer.warn("the site's folder '" + path + "' is none on this node", "it is not used");
  return std::nullopt;
}

std::optional<StagedCopy> StagedCopy::make(const fs::path& folder,
                                           const std::string& key,
                                           const fs::path& source,
                                           base::Clock& clock,
                                           base::Observer& observer,
                                           const std::stop_token& stop) {
  std::string problem;
  try {
    return try_make(folder, key, source, clock, observer, stop);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    problem = error.what();
  } catch (const fs::filesystem_error& error) {
    problem = error.what();
  }
  observer.warn(source.string() + ": is not copied to this node: " + problem,
                "it is read where it is");
  return std::nullopt;
}

std::optional<StagedCopy> StagedCopy::try_make(const fs::path& folder,
                                               const std::string& key,
                                               const fs::path& source,
                                               base::Clock& clock,
                                               base::Observer& observer,
                                               const std::stop_token& stop) {
  const fs::path root = folder / ("sabath-staged-" + std::to_string(::getuid()));
  if (!is_own_folder(root, observer)) return std::nullopt;
  remove_all_unused(root);
  const fs::path place = root / key;
  while (true) {
    if (stop.stop_requested())
      throw Error(ErrorKind::interrupted, "interrupted while inputs were copied to the node");
    become_user(place, clock);
    StagedCopy copy(place);
    std::error_code code;
    // In this order: what was removed in between has no user either.
    const bool is_closing = fs::exists(closing_of(place), code);
    if (!is_closing && fs::exists(users_of(place) / own_text(), code)) {
      if (fs::exists(copy.path(), code)) return copy;
      if (take(maker_of(place))) {
        const OwnFile making(maker_of(place));  // where it fails, others are not to wait for it
        // Whoever made it last may have come in between.
        if (fs::exists(copy.path(), code) || fill(place, source, observer, stop)) return copy;
        return std::nullopt;
      }
    } else {
      forget_closer(place);
    }
    clock.sleep_for(pause);
  }
}

StagedCopy::StagedCopy(StagedCopy&& other) noexcept : place_(std::move(other.place_)) {
  other.place_.clear();
}

StagedCopy::~StagedCopy() {
  if (place_.empty()) return;
  try {
    std::error_code code;
    fs::remove(users_of(place_) / own_text(), code);
    remove_unused(place_);
  } catch (const std::exception&) {
    return;  // once this process is gone, the next one does it
  }
}

std::vector<env::PrefixImage> images_used(const spec::RunPlan& plan) {
  std::map<fs::path, env::PrefixImage> found;  // variants share layers
  for (const spec::BuiltEnvironment& environment : plan.environments()) {
    if (env::container_of(environment) != nullptr) continue;
    for (env::PrefixImage& image : env::images_of(environment))
      found.emplace(image.prefix, std::move(image));
  }
  std::vector<env::PrefixImage> images;
  for (auto& [prefix, image] : found)
    images.push_back(std::move(image));
  return images;
}

void see_instead(const fs::path& source, const fs::path& copy, spec::RunPlan& plan) {
  const std::string from = source.string();
  const std::string to = copy.string();
  const auto replace = [&](std::string& text) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      const std::size_t end = at + from.size();
      constexpr std::string_view of_names =
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
      const bool is_whole = end == text.size() || of_names.find(text[end]) == of_names.npos;
      if (is_whole) text.replace(at, from.size(), to);
      at += is_whole ? to.size() : from.size();
    }
  };
  for (spec::PlannedInput& input : plan.inputs) {
    if (input.path == from) input.path = to;
  }
  for (spec::PlannedStage& stage : plan.stages) {
    for (std::string& argument : stage.argv)
      replace(argument);
    for (auto& [name, value] : stage.environment)
      replace(value);
  }
}

ScratchFolder::ScratchFolder(const fs::path& scratch)
    : path_(scratch / (std::string(scratch_head) + own_text())) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(scratch, code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(scratch_head)) continue;
    const auto process = ProcessIdentity::parse(name.substr(scratch_head.size()));
    // Of another node's nobody can tell here.
    if (process && base::liveness_of(*process) == base::Liveness::gone)
      base::remove_tree(entry.path());
  }
  base::make_directories(path_);
}

ScratchFolder::~ScratchFolder() {
  base::remove_tree(path_);
}

}  // namespace sabath::app
