#include "node_staging.hpp"

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
#include <map>

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

/// The file is this process's alone, until it is removed or this process is gone.
bool take(const fs::path& file) {
  if (base::write_file_once(file, own_text())) return true;
  const auto holder = base::read_file_if_exists(file);
  if (!holder || !is_gone(*holder)) return false;
  std::error_code code;
  fs::remove(file, code);
  return base::write_file_once(file, own_text());
}

/// Those that are gone are forgotten.
bool has_users(const fs::path& place) {
  bool any = false;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(users_of(place), code)) {
    std::error_code none;
    if (is_gone(entry.path().filename().string())) {
      fs::remove(entry.path(), none);
    } else {
      any = true;
    }
  }
  return any;
}

/// Removes a copy that nobody uses. One who comes says first that he uses it, and looks then
/// whether it is being removed; this says first that it removes it, and looks then who uses it: at
/// least one of both sees the other.
void remove_unused(const fs::path& place) noexcept {
  try {
    std::error_code code;
    if (!fs::is_directory(place, code) || has_users(place)) return;
    if (!take(closing_of(place))) return;
    if (has_users(place)) {
      fs::remove(closing_of(place), code);
      return;
    }
    const fs::path gone = place.parent_path() /
                          (std::string(gone_head) + own_text() + "-" + place.filename().string());
    fs::rename(place, gone, code);
    base::remove_tree(code ? place : gone);
  } catch (const std::exception&) {
    return;  // the next one does it
  }
}

bool is_digest(std::string_view text) {
  return text.size() >= 32 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isxdigit(c) != 0;
         });
}

/// Nothing that is not a copy by its name and by what is in it.
void remove_all_unused(const fs::path& root) noexcept {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(root, code)) {
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

/// What a copy of it takes.
std::uint64_t size_of(const fs::path& source) {
  if (fs::is_regular_file(source)) return fs::file_size(source);
  std::uint64_t bytes = 0;
  constexpr auto follow = fs::directory_options::follow_directory_symlink;
  for (const auto& entry : fs::recursive_directory_iterator(source, follow)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

void copy_one(const fs::path& source, const fs::path& copy) {
  fs::copy_file(source, copy);
  if (fs::file_size(source) == fs::file_size(copy)) return;
  throw Error(ErrorKind::storage, copy.string() + ": is not as long as " + source.string());
}

/// Links are followed: a copy needs nothing else.
void copy_all(const fs::path& source, const fs::path& copy, const std::stop_token& stop) {
  if (fs::is_regular_file(source)) return copy_one(source, copy);
  fs::create_directories(copy);
  constexpr auto follow = fs::directory_options::follow_directory_symlink;
  for (const auto& entry : fs::recursive_directory_iterator(source, follow)) {
    if (stop.stop_requested())
      throw Error(ErrorKind::interrupted, "interrupted while inputs were copied to the node");
    const fs::path target = copy / entry.path().lexically_relative(source);
    if (entry.is_directory()) {
      fs::create_directories(target);
    } else if (entry.is_regular_file()) {
      copy_one(entry.path(), target);
    }
  }
}

/// The copy is others', too: nobody is to write into it.
void make_read_only(const fs::path& path) {
  constexpr auto all_read = static_cast<fs::perms>(0444);
  constexpr auto all_enter = static_cast<fs::perms>(0555);
  const auto close = [&](const fs::path& file) {
    const fs::file_status status = fs::symlink_status(file);
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
        // Whoever made it last may have come in between.
        const bool is_there = fs::exists(copy.path(), code) || fill(place, source, observer, stop);
        fs::remove(maker_of(place), code);
        if (is_there) return copy;
        return std::nullopt;
      }
    } else if (const auto closer = base::read_file_if_exists(closing_of(place));
               closer && is_gone(*closer)) {
      fs::remove(closing_of(place), code);
    }
    clock.sleep_for(pause);
  }
}

StagedCopy::StagedCopy(StagedCopy&& other) noexcept : place_(std::move(other.place_)) {
  other.place_.clear();
}

StagedCopy::~StagedCopy() {
  if (place_.empty()) return;
  std::error_code code;
  fs::remove(users_of(place_) / own_text(), code);
  remove_unused(place_);
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
