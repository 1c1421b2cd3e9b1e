#include "locked_layer.hpp"

#include "layer_variables.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/environment.hpp>

namespace sabath::env {

namespace fs = std::filesystem;

namespace {

/// Returns the quoted command that locks the recipe, for hints.
std::string lock_command(const LayerContext& context) {
  return "'" +
         base::shown_command(
             {"sabath", "env", "lock", fs::absolute(context.recipe_directory).string()}) +
         "'";
}

}  // namespace

fs::path lock_file_of(const fs::path& recipe_directory) {
  return recipe_directory / "environment.lock.json";
}

std::optional<spec::PackageLock> read_lock_file(const fs::path& recipe_directory) {
  const fs::path path = lock_file_of(recipe_directory);
  const auto text = base::read_file_if_exists(path);
  if (!text) return std::nullopt;
  return spec::parse_package_lock(*text, path.string());
}

std::string lock_problem(const std::optional<spec::PackageLock>& lock,
                         const std::string& layer,
                         const base::Digest& request,
                         const fs::path& file) {
  if (!lock) return "is not locked: no " + file.string();
  const auto* const found = lock->find(layer, request);
  if (found == nullptr) return file.string() + " has no layer of that name";
  if (found->request == request) return {};
  return "the lock " + file.string() + " is out of date: the requirements have changed";
}

spec::PackageLayerLock read_locked_layer(const LayerContext& context, const base::Digest& request) {
  if (context.locked != nullptr) {
    const auto* const fresh = context.locked->find(context.spec.name, request);
    if (fresh != nullptr && fresh->request == request) return *fresh;
  }
  const auto lock = read_lock_file(context.recipe_directory);
  const std::string problem =
      lock_problem(lock, context.spec.name, request, lock_file_of(context.recipe_directory));
  if (problem.empty()) return *lock->find(context.spec.name, request);
  throw_environment(place_of(context.spec.name) + ": " + problem,
                    lock_command(context) + " resolves what the recipe asks for");
}

base::Digest locked_file(const LayerContext& context) {
  if (context.locked != nullptr) return context.locked->digest();
  const auto lock = read_lock_file(context.recipe_directory);
  return lock ? lock->digest() : base::Digest{};
}

const spec::PlatformPackages& packages_for(const LayerContext& context,
                                           const spec::PackageLayerLock& lock,
                                           std::string_view platform,
                                           std::string_view python) {
  const auto* const packages = lock.find(platform, python);
  if (packages != nullptr) return *packages;
  const auto in_words = [](std::string_view one, std::string_view other) {
    return std::string(one) + (other.empty() ? "" : " ") + std::string(other);
  };
  const std::string known = base::joined(
      lock.platforms, ", ", [&](const auto& one) { return in_words(one.platform, one.python); });
  throw_environment(place_of(context.spec.name) + ": the lock has nothing for " +
                        in_words(platform, python) + "; it has: " + base::printable(known),
                    lock_command(context) + " on this machine adds it to the lock");
}

std::vector<PinnedFile> pinned_files(const std::vector<spec::LockedPackage>& packages) {
  std::vector<PinnedFile> files;
  for (const spec::LockedPackage& package : packages) {
    const std::string version = package.version.empty() ? "" : " " + package.version;
    files.push_back({package.file, package.digest, package.name + version, {}});
    if (package.url) files.back().urls.push_back(*package.url);
  }
  return files;
}

}  // namespace sabath::env
