#include "key_folder.hpp"
#include "layers/layer_variables.hpp"
#include "prefix_files.hpp"
#include "source/build_steps.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/base/write_access.hpp>
#include <sabath/env/prefix.hpp>
#include <sabath/env/prefix_image.hpp>

#include <sched.h>

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr std::string_view image_ending = ".squashfs";
constexpr std::chrono::hours longest{1};  // for tens of GiB on a slow disk

/// Several images come from different versions of squashfs-tools: all processes take the same one.
std::optional<PrefixImage> image_beside(const spec::BuiltLayer& layer) {
  if (layer.prefix.empty() || layer.container) return std::nullopt;
  const fs::path attempt = fs::path(layer.prefix).parent_path();
  std::optional<PrefixImage> found;
  for (const fs::directory_entry& entry : entries_in(attempt)) {
    const fs::path& path = entry.path();
    const auto digest = base::parse_digest("sha256:" + path.stem().string());
    std::error_code gone;
    if (path.extension() != image_ending || !digest ||
        !fs::is_regular_file(entry.symlink_status(gone)))
      continue;
    if (found && found->digest.hex < digest->hex) continue;
    const auto record = read_attempt_record(AttemptFolder{attempt}.record());
    found = {layer.lock.name,
             layer.prefix,
             path,
             *digest,
             entry.file_size(gone),
             record ? record->size.files : 0,
             record ? record->size.disk_bytes : 0};
  }
  return found;
}

std::string require_program(const std::string& name, const std::string& place) {
  if (const auto found = base::find_program(name)) return found->string();
  throw_environment(
      place + ": " + name + " not found on PATH",
      "it comes with squashfs-tools 4.4 or newer (Debian: apt install squashfs-tools)");
}

void run_tool(const std::vector<std::string>& argv,
              const std::string& place,
              base::ProcessRunner& processes,
              const std::stop_token& stop) {
  base::Command command;
  command.argv = argv;
  command.environment = base::current_environment();
  command.environment->erase("SOURCE_DATE_EPOCH");  // mksquashfs refuses it beside its options
  command.deadline = longest;
  const base::ProcessResult result = run_unless_stopped(processes, command, stop, place);
  if (result.ok()) return;
  const std::string said = result.errors.empty() ? result.output : result.errors;
  const bool full = said.find(base::errno_text(ENOSPC)) != std::string::npos;
  throw Error(full ? ErrorKind::storage : ErrorKind::environment,
              place + ": '" + base::quote_command(argv) + "' " + result.describe() + ":\n" +
                  base::printable(said, true));
}

PrefixImage pack_one(const spec::BuiltLayer& layer,
                     base::ProcessRunner& processes,
                     base::Observer& observer,
                     const std::stop_token& stop) {
  const std::string place = place_of(layer.lock.name);
  const std::string tool = require_program("mksquashfs", place);
  const fs::path attempt = fs::path(layer.prefix).parent_path();
  const base::TempDir work(attempt, packing_beginning);
  const fs::path unnamed = work.path() / "image";
  observer.note(place + ": packing " + layer.prefix);
  run_tool({tool,
            layer.prefix,
            unnamed.string(),
            "-noappend",
            "-no-progress",
            "-no-xattrs",
            "-exit-on-error",
            "-all-root",
            "-mkfs-time",
            "0"},
           place + ": packing was stopped",
           processes,
           stop);
  fs::permissions(unnamed, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  const base::Digest digest = base::digest_file(unnamed);
  const fs::path image = attempt / (digest.hex + std::string(image_ending));
  std::error_code code;
  fs::rename(unnamed, image, code);
  if (code) base::throw_errno(image.string(), "cannot make", code.value());
  return *image_beside(layer);
}

/// Returns the configured folder, else the temporary one.
fs::path local_folder(const fs::path& settled) {
  std::error_code code;
  const fs::path local = settled.empty() ? fs::temp_directory_path(code) : settled;
  if (code || !fs::is_directory(local, code)) {
    throw_environment(
        "environment: no folder to unpack images in: " + local.string(),
        "\"environments\": {\"local\": ...} in the configuration, or TMPDIR, names one on "
        "this node");
  }
  return fs::absolute(local);
}

void require_executable(const fs::path& folder, const std::string& hint) {
  struct statvfs mounted {};
  if (::statvfs(folder.c_str(), &mounted) != 0 || (mounted.f_flag & ST_NOEXEC) == 0) return;
  throw_environment(folder.string() + ": nothing can be executed there: it is mounted noexec",
                    hint);
}

/// Makes a folder that only this user can write, even where others may make folders.
fs::path own_folder(const fs::path& settled) {
  const fs::path local = local_folder(settled);
  const std::string elsewhere =
      "\"environments\": {\"local\": ...} in the configuration names another place";
  require_executable(local, elsewhere);
  if (base::can_others_exchange(local)) {
    throw_environment(local.string() + ": others can exchange what is in it",
                      "make it sticky (chmod +t); " + elsewhere);
  }
  fs::path folder = local / ("sabath-" + std::to_string(::geteuid()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    base::throw_errno(folder.string(), "cannot make", errno);
  }
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) {
    base::throw_errno(folder.string(), "cannot use", errno);
  }
  if (S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
      (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    return folder;
  }
  throw_environment(folder.string() + ": is not a folder that only you can write",
                    "somebody made it before you: " + elsewhere);
}

/// Returns true for complete copies: cleaners of temporary folders remove old files only.
bool is_whole(const fs::path& copy, const PrefixImage& image) {
  std::error_code code;
  return fs::is_directory(copy, code) && measure_prefix(copy).files == image.files;
}

LocalPrefix unpack_one(const PrefixImage& image,
                       const fs::path& folder,
                       const base::Trust& trust,
                       base::ProcessRunner& processes,
                       base::Observer& observer,
                       const std::stop_token& stop) {
  LocalPrefix local{image.prefix, folder / image.digest.hex};
  if (is_whole(local.copy, image)) return local;
  if (const auto reason = base::why_untrusted(image.path, trust))
    refuse_untrusted(*reason, image.layer);
  observer.note(place_of(image.layer) + ": unpacking " + base::format_bytes(image.size_bytes) +
                " to " + local.copy.string());
  const base::TempDir work(folder, ".unpack-");
  const fs::path fresh = work.path() / "prefix";
  unpack_image(image, fresh, processes, stop);
  base::sync_file_system(fresh);
  if (is_whole(local.copy, image)) return local;  // another process was faster
  // An old copy may be mounted: it is moved aside, not removed. A read-only folder cannot be
  // renamed.
  std::error_code code;
  fs::permissions(fresh, fs::perms::owner_write, fs::perm_options::add);
  fs::permissions(local.copy, fs::perms::owner_write, fs::perm_options::add, code);
  fs::rename(local.copy, folder / (".old-" + work.path().filename().string()), code);
  fs::rename(fresh, local.copy, code);
  if (code && !is_whole(local.copy, image)) {
    base::throw_errno(local.copy.string(), "cannot make", code.value());
  }
  return local;
}

[[noreturn]] void refuse(const std::string& what, const std::string& hint) {
  throw_environment("environment: " + what + ": " + base::errno_text(errno), hint);
}

bool write_once(const char* path, std::string_view text) noexcept {
  const base::UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// A new mount namespace for this process (and, except for root, a user namespace). Works in two
/// steps: `enter` is also called in the child of a process with threads, between fork and exit. It
/// may call only async-signal-safe functions and must not allocate.
class OwnNamespace {
 public:
  OwnNamespace()
      : is_root_(::geteuid() == 0), users_(map_of(::geteuid())), groups_(map_of(::getegid())) {}

  /// Returns null, or what failed; errno says why.
  const char* enter() const noexcept {
    if (is_root_ && ::unshare(CLONE_NEWNS) != 0) return "no mount namespace";
    if (!is_root_) {
      if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return "no user namespace";
      if (!write_once("/proc/self/setgroups", "deny")) return "cannot write /proc/self/setgroups";
      if (!write_once("/proc/self/uid_map", users_)) return "cannot write /proc/self/uid_map";
      if (!write_once("/proc/self/gid_map", groups_)) return "cannot write /proc/self/gid_map";
    }
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
      return "cannot keep mounts to itself";
    return nullptr;
  }

 private:
  static std::string map_of(unsigned id) {
    return std::to_string(id) + " " + std::to_string(id) + " 1";
  }

  bool is_root_;
  std::string users_;
  std::string groups_;
};

}  // namespace

std::vector<PrefixImage> images_of(const spec::BuiltEnvironment& environment) {
  std::vector<PrefixImage> images;
  for (const spec::BuiltLayer& layer : environment.layers) {
    if (auto image = image_beside(layer)) images.push_back(std::move(*image));
  }
  return images;
}

std::vector<PrefixImage> pack_prefixes(const spec::BuiltEnvironment& environment,
                                       base::ProcessRunner& processes,
                                       base::Observer& observer,
                                       std::stop_token stop) {
  std::vector<PrefixImage> images;
  for (const spec::BuiltLayer& layer : environment.layers) {
    if (layer.prefix.empty() || layer.container) continue;  // containers are images already
    auto image = image_beside(layer);
    images.push_back(image ? std::move(*image) : pack_one(layer, processes, observer, stop));
  }
  return images;
}

std::vector<LocalPrefix> unpack_images(const std::vector<PrefixImage>& images,
                                       const fs::path& local,
                                       base::ProcessRunner& processes,
                                       base::Observer& observer,
                                       std::stop_token stop,
                                       const base::Trust& trust) {
  std::vector<LocalPrefix> prefixes;
  if (images.empty()) return prefixes;
  const fs::path folder = own_folder(local);
  for (const PrefixImage& image : images)
    prefixes.push_back(unpack_one(image, folder, trust, processes, observer, stop));
  return prefixes;
}

void unpack_image(const PrefixImage& image,
                  const fs::path& copy,
                  base::ProcessRunner& processes,
                  std::stop_token stop) {
  const std::string place = place_of(image.layer);
  const std::string tool = require_program("unsquashfs", place);
  require_executable(copy.parent_path(), "");
  if (base::digest_file(image.path) != image.digest) {
    throw Error(ErrorKind::integrity,
                place + ": " + image.path.string() + ": is not what it was when it was made",
                "remove it, and 'sabath env pack' makes it anew");
  }
  run_tool({tool, "-no-progress", "-no-xattrs", "-d", copy.string(), image.path.string()},
           place + ": unpacking was stopped",
           processes,
           stop);
}

std::vector<std::string> see_local_prefixes(const fs::path& program,
                                            const std::vector<LocalPrefix>& prefixes,
                                            std::vector<std::string> argv) {
  if (prefixes.empty()) return argv;
  std::vector<std::string> words{program.string(), "env", "enter"};
  for (const LocalPrefix& prefix : prefixes)
    words.insert(words.end(), {"--place", prefix.copy.string(), prefix.prefix.string()});
  words.emplace_back("--");
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

bool may_enter() {
  const OwnNamespace own;
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) ::_exit(own.enter() == nullptr ? 0 : 1);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void enter_local_prefixes(const std::vector<LocalPrefix>& prefixes) {
  const OwnNamespace own;
  if (const char* const problem = own.enter()) {
    refuse(problem,
           "this system lets users have no namespaces of their own, which images need: "
           "\"environments\": {\"packed\": false} in the configuration, and no --packed");
  }
  for (const LocalPrefix& one : prefixes) {
    if (::mount(one.copy.c_str(), one.prefix.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(nullptr,
                one.prefix.c_str(),
                nullptr,
                MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV,
                nullptr) != 0) {
      refuse("cannot mount " + one.copy.string() + " at " + one.prefix.string(),
             "\"environments\": {\"local\": ...} in the configuration names another place for it");
    }
  }
}

}  // namespace sabath::env
