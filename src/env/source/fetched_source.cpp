#include "fetched_source.hpp"

#include "layers/layer_variables.hpp"
#include "layers/locked_layer.hpp"
#include "tools/git.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <array>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

bool is_build_tree(const fs::path& folder) {
  std::error_code code;
  return fs::exists(folder / "CMakeCache.txt", code);
}

[[noreturn]] void refuse(const fs::path& path,
                         const std::string& problem,
                         const std::string& hint) {
  throw base::Error(base::ErrorKind::usage, path.string() + ": " + problem, hint);
}

void require_inside(const fs::path& link, const fs::path& root) {
  const fs::path target = fs::read_symlink(link);
  if (target.is_absolute() ||
      !base::is_beneath(fs::weakly_canonical(link.parent_path() / target), root)) {
    refuse(link,
           "the link leads out of the source tree, to '" + target.string() + "'",
           "copy what it leads to into the tree: only what lies in it is built and recorded");
  }
}

/// Returns true for files that an earlier build left. Refuses files that cannot be source.
bool is_leftover(const fs::directory_entry& entry, const fs::path& root, bool built_in_place) {
  if (entry.is_symlink()) {
    require_inside(entry.path(), root);
    return false;
  }
  if (built_in_place && entry.path().parent_path() == root) {
    const fs::path name = entry.path().filename();
    if (name == "CMakeCache.txt" || name == "CMakeFiles") return true;
  }
  if (entry.is_directory()) return is_build_tree(entry.path());
  if (!entry.is_regular_file()) {
    refuse(entry.path(), "neither a file nor a folder nor a link", "remove it from the source");
  }
  return false;
}

/// Platform of packages that are the same for every machine.
constexpr const char* any_platform = "any";
/// 1980-01-01, as SOURCE_DATE_EPOCH of builds.
constexpr std::time_t source_time = 315532800;

constexpr std::array<std::string_view, 10> endings{
    ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar.zst", ".tzst", ".tar", ".zip"};

/// Returns the file name in a URL for the lock: "zlib-1.3.tar.gz".
std::string file_of(const std::string& url) {
  std::string path = url.substr(0, url.find_first_of("?#"));
  std::string name = path.substr(path.rfind('/') + 1);
  std::replace_if(
      name.begin(),
      name.end(),
      [](char c) {
        return std::string_view("._+-").find(c) == std::string_view::npos &&
               !std::isalnum(static_cast<unsigned char>(c));
      },
      '_');
  const bool is_known =
      std::ranges::any_of(endings, [&](std::string_view end) { return name.ends_with(end); });
  const auto first = name.find_first_not_of("._+-");
  name = first == std::string::npos ? "source" : name.substr(first);
  return is_known ? name : name + ".tar";
}

spec::LockedPackage package_of(const LayerContext& context) {
  spec::LockedPackage package;
  package.name = spec::normal_package_name(context.spec.name);
  package.requested = true;
  return package;
}

PinnedFile pinned(const spec::LockedPackage& package) {
  PinnedFile file{package.file, package.digest, package.name, {}};
  if (package.version.empty()) {
    file.urls = {package.url.value_or("")};
  } else {
    file.what += " " + package.version.substr(0, 12);
  }
  return file;
}

void set_times(const fs::path& folder) {
  const std::array<timespec, 2> times{timespec{source_time, 0}, timespec{source_time, 0}};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (::utimensat(AT_FDCWD, entry.path().c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) {
      base::throw_errno(entry.path().string(), "cannot set the time", errno);
    }
  }
}

/// Returns the only entry of a folder, if it is a folder.
std::optional<fs::path> only_folder(const fs::path& folder) {
  std::optional<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (found || entry.is_symlink() || !entry.is_directory()) return std::nullopt;
    found = entry.path();
  }
  return found;
}

/// Fills in the present state of a repository. Returns the program that was asked.
std::string lock_commit(const LockRequest& request,
                        const LayerTools& tools,
                        spec::LockedPackage& package) {
  const spec::CodeOrigin& origin = request.context.spec.origin;
  const std::string place = place_of(request.context.spec.name);
  Git git(request, tools.processes, tools.user);
  request.observer.note(place + ": asking " + origin.git);
  package.url = origin.git;
  package.version = git.resolve(origin.git, origin.ref);
  package.file = package.name + "-" + package.version.substr(0, 12) + ".tar";
  request.observer.note(place + ": fetching " + package.version);
  const fs::path file = request.work / package.file;
  git.write_tree(origin.git, package.version, file);
  package.digest = base::digest_file(file);
  return git.version();
}

/// Fills in the present state of an archive.
void lock_archive(const LockRequest& request, spec::LockedPackage& package) {
  const std::string& url = request.context.spec.origin.archive;
  package.url = url;
  package.file = file_of(url);
  const auto files =
      request.bring({{package.file, {}, package.file, {url}}}, {}, request.observer, request.stop);
  package.digest = base::digest_file(files.front());
}

fs::path download_commit(const LockRequest& request,
                         const LayerTools& tools,
                         const spec::LockedPackage& package,
                         const fs::path& folder) {
  request.observer.note(place_of(request.context.spec.name) + ": fetching " + package.version +
                        " of " + package.url.value_or(""));
  Git git(request, tools.processes, tools.user);
  fs::path file = folder / package.file;
  git.write_tree(package.url.value_or(""), package.version, file);
  return file;
}

}  // namespace

std::vector<base::TreeFile> list_source(const fs::path& root) {
  std::error_code code;
  const fs::path real = fs::canonical(root, code);
  if (code) base::throw_errno(root.string(), "cannot read the source", code.value());
  const bool built_in_place = is_build_tree(real);
  return base::list_tree(real, [&](const fs::directory_entry& entry) {
    return is_leftover(entry, real, built_in_place);
  });
}

void copy_source(const fs::path& root,
                 const std::vector<base::TreeFile>& files,
                 const fs::path& destination) {
  try {
    for (const base::TreeFile& file : files) {
      const fs::path to = destination / file.path;
      fs::create_directories(to.parent_path());
      if (!file.link_target.empty()) {
        fs::create_symlink(file.link_target, to);
        continue;
      }
      fs::copy_file(root / file.path, to);
      fs::permissions(to, fs::perms::owner_write, fs::perm_options::add);
      fs::last_write_time(to, fs::last_write_time(root / file.path));
    }
  } catch (const fs::filesystem_error& error) {
    base::throw_errno(error.path1().string(), "cannot copy the source", error.code().value());
  }
}

base::Digest source_request(const spec::CodeOrigin& origin) {
  return base::sha256_of("sabath-source/1\ngit " + origin.git + "\nref " + origin.ref +
                         "\narchive " + origin.archive + "\n");
}

spec::LockedPackage locked_source(const LayerContext& context) {
  if (context.spec.origin.digest) {
    spec::LockedPackage package = package_of(context);
    package.file = file_of(context.spec.origin.archive);
    package.digest = *context.spec.origin.digest;
    package.url = context.spec.origin.archive;
    return package;
  }
  const auto lock = read_locked_layer(context, source_request(context.spec.origin));
  const auto& packages = packages_for(context, lock, any_platform).packages;
  if (packages.size() == 1) return packages.front();
  throw_environment(place_of(context.spec.name) + ": the lock has " +
                        std::to_string(packages.size()) + " sources for it",
                    "'sabath env lock RECIPE' writes it anew");
}

spec::PackageLayerLock lock_source(const LockRequest& request, const LayerTools& tools) {
  const spec::CodeOrigin& origin = request.context.spec.origin;
  spec::PlatformPackages packages;
  packages.platform = any_platform;
  packages.resolver = "sabath";
  spec::LockedPackage package = package_of(request.context);
  if (origin.git.empty()) {
    lock_archive(request, package);
  } else {
    packages.resolver = lock_commit(request, tools, package);
  }
  packages.packages = {std::move(package)};
  return {spec::LayerKind::source,
          request.context.spec.name,
          source_request(origin),
          {std::move(packages)}};
}

std::pair<PinnedFile, fs::path> bring_source(const LockRequest& request, const LayerTools& tools) {
  const spec::LockedPackage package = locked_source(request.context);
  const PinnedFile file = pinned(package);
  const Download by_git = [&](const std::vector<PinnedFile>&, const fs::path& folder) {
    return std::vector{download_commit(request, tools, package, folder)};
  };
  return {file, request.bring({file}, by_git, request.observer, request.stop).front()};
}

fs::path unpack_source(const LockRequest& request, const fs::path& file, const fs::path& folder) {
  const std::string place = place_of(request.context.spec.name);
  base::make_directories(folder);
  try {
    base::extract_archive(file, folder, {}, request.observer, request.stop);
    fs::path source = folder;
    if (request.context.spec.origin.git.empty()) source = only_folder(folder).value_or(folder);
    // Its settings would apply to programs that run there.
    base::remove_tree(source / ".git");
    set_times(folder);
    return source;
  } catch (const fs::filesystem_error& error) {
    base::throw_errno(error.path1().string(), "cannot read", error.code().value());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::integrity) throw;
    throw_environment(place + ": its source cannot be unpacked: " + error.what(),
                      "only what stays in its own folder is unpacked");
  }
}

}  // namespace sabath::env
