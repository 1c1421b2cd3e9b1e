#include "conda_layer.hpp"

#include "layer_variables.hpp"
#include "locked_layer.hpp"
#include "package_check.hpp"
#include "tools/conda_engine.hpp"
#include "tools/conda_install.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/environment.hpp>

#include <algorithm>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// A channel may lie in the recipe: a lock does not say where that is on this machine.
constexpr std::string_view recipe_label = "{recipe}";

std::string recipe_address(const LayerContext& context) {
  return "file://" + percent_encoded(fs::weakly_canonical(fs::absolute(context.recipe_directory)));
}

std::string with_recipe(const std::string& url, const LayerContext& context) {
  const std::string recipe = recipe_address(context);
  if (!url.starts_with(recipe + "/")) return url;
  return std::string(recipe_label) + url.substr(recipe.size());
}

std::string without_recipe(const std::string& url, const LayerContext& context) {
  if (!url.starts_with(recipe_label)) return url;
  return recipe_address(context) + url.substr(recipe_label.size());
}

/// What the lock has for this machine.
struct Locked {
  CondaRequest request{};
  std::vector<CondaPackage> packages{};
};

Locked read_locked(const LayerContext& context) {
  Locked found{read_conda_request(context), {}};
  const auto lock = read_locked_layer(context, found.request.digest);
  for (const spec::LockedPackage& one : packages_for(context, lock, platform_here()).packages) {
    auto package = conda_package_at(without_recipe(one.url.value_or(""), context));
    if (!package || package->file() != one.file || package->name != one.name ||
        package->version != one.version || package->build != one.build) {
      throw Error(ErrorKind::usage,
                  place_of(context.spec.name) + ": " +
                      lock_file_of(context.recipe_directory).string() + ": '" +
                      base::printable(one.url.value_or("")) + "' is not where " + one.file + " is",
                  "'sabath env lock RECIPE' writes it anew");
    }
    package->sha256 = one.digest;
    found.packages.push_back(std::move(*package));
  }
  return found;
}

std::vector<PinnedFile> pinned(const std::vector<CondaPackage>& packages) {
  std::vector<PinnedFile> files;
  for (const CondaPackage& package : packages) {
    files.push_back(
        {package.file(), *package.sha256, package.name + " " + package.version, {package.url}});
  }
  return files;
}

/// A package as it is now, of which no SHA-256 is known.
fs::path bring_unknown(const LayerErrand& errand, const CondaPackage& package) {
  const PinnedFile wanted{package.file(), {}, package.name + " " + package.version, {package.url}};
  const fs::path file = errand.bring({wanted}, {}, errand.observer, errand.stop).at(0);
  check_digests(package, file, place_of(errand.context.spec.name));
  return file;
}

/// Packages of an explicit list that are not for `subdir`.
void require_platform(const std::vector<CondaPackage>& packages,
                      const std::string& subdir,
                      const std::string& place) {
  std::vector<std::string> foreign;
  for (const CondaPackage& package : packages) {
    if (package.subdir() != subdir && package.subdir() != "noarch")
      foreign.push_back(package.subdir() + "/" + package.file());
  }
  if (foreign.empty()) return;
  throw Error(ErrorKind::environment,
              place + ": the explicit list is not for " + subdir + ": " + in_words(foreign),
              "'sabath env lock --platform' locks for another machine, and each has its own list");
}

}  // namespace

CondaLayer::CondaLayer(base::ProcessRunner& processes, base::Environment user)
    : processes_(processes), user_(std::move(user)) {}

std::map<std::string, std::string> CondaLayer::resolve(const LayerContext& context) {
  std::map<std::string, std::string> facts;
  for (const CondaPackage& package : read_locked(context).packages)
    facts["package." + package.name] = package.label() + " " + package.sha256->text();
  return facts;
}

std::vector<fs::path> CondaLayer::files_of(const LayerErrand& errand,
                                           const std::vector<CondaPackage>& packages,
                                           const BringFiles& bring) {
  const std::vector<PinnedFile> wanted = pinned(packages);
  std::optional<CondaEngine> engine;
  const Download download = [&](const std::vector<PinnedFile>& files, const fs::path&) {
    if (!engine) engine.emplace(errand, processes_, user_);
    std::vector<fs::path> brought;
    for (const PinnedFile& file : files) {
      const auto package = std::find_if(packages.begin(), packages.end(), [&](const auto& one) {
        return *one.sha256 == file.digest;
      });
      errand.observer.note(place_of(errand.context.spec.name) + ": fetching " + file.what);
      brought.push_back(engine->download(*package));
    }
    return brought;
  };
  if (bring) return bring(wanted, download, errand.observer, errand.stop);
  return download(wanted, errand.work);
}

std::map<std::string, std::string> CondaLayer::build(const LayerBuild& build) {
  if (build.stop.stop_requested()) {
    throw Error(ErrorKind::interrupted, place_of(build.lock.name) + ": interrupted");
  }
  const Locked found = read_locked(build.context);
  const fs::path folder = build.work / "fetch";
  base::make_directories(folder);
  const LayerErrand errand{build.context, folder, build.observer, build.stop, {}, build.limits};
  const CondaInstall install{build, found.packages, files_of(errand, found.packages, build.bring)};
  return install_conda(install, processes_);
}

std::vector<std::string> CondaLayer::expectations(const LayerContext& context) {
  const CondaRequest request = read_conda_request(context);
  return package_expectations(context, {request.requested.begin(), request.requested.end()});
}

std::map<std::string, std::string> CondaLayer::check_expectations(const LayerBuild& build) {
  spec::BuiltLayer built{build.lock, build.prefix.string()};
  built.modules = activation_of(build.prefix);
  const CondaRequest request = read_conda_request(build.context);
  return check_packages(
      build, built, importable_packages(build.prefix, request.requested), processes_);
}

spec::PackageLayerLock CondaLayer::lock(const LayerErrand& errand, const LockTarget& target) {
  const LayerContext& context = errand.context;
  const std::string place = place_of(context.spec.name);
  const CondaRequest request = read_conda_request(context);
  spec::PlatformPackages resolved;
  resolved.platform = target.platform.empty() ? platform_here() : target.platform;
  const std::string subdir = conda_subdir(resolved.platform);
  errand.observer.note(place + ": resolving for " + resolved.platform);

  std::vector<CondaPackage> packages = request.listed;
  std::optional<CondaEngine> engine;
  if (packages.empty()) {
    engine.emplace(errand, processes_, user_);
    packages = engine->solve(request, subdir);
    resolved.resolver = engine->program().identity();
    if (const auto believed = engine->virtual_packages(); !believed.empty())
      resolved.resolver += " (" + believed + ")";
  } else {
    require_platform(packages, subdir, place);
    resolved.resolver = "an explicit list";
  }
  for (CondaPackage& package : packages) {
    if (!package.sha256) {
      errand.observer.note(place + ": fetching " + package.file() + " for its SHA-256");
      if (!errand.bring && !engine) engine.emplace(errand, processes_, user_);
      const fs::path file =
          errand.bring ? bring_unknown(errand, package) : engine->download(package);
      package.sha256 = base::digest_file(file);
    }
    resolved.packages.push_back({package.name,
                                 package.version,
                                 package.file(),
                                 *package.sha256,
                                 package.build,
                                 with_recipe(package.url, context),
                                 request.requested.contains(package.name)});
  }
  std::sort(resolved.packages.begin(), resolved.packages.end(), [](const auto& a, const auto& b) {
    return a.name < b.name;
  });
  return {spec::LayerKind::conda, context.spec.name, request.digest, {std::move(resolved)}};
}

std::vector<PinnedFile> CondaLayer::fetch(const LayerErrand& errand, const BringFiles& bring) {
  const Locked found = read_locked(errand.context);
  files_of(errand, found.packages, bring);
  return pinned(found.packages);
}

void CondaLayer::describe(const LayerContext& context, spec::BuiltLayer& built) {
  built.lock_file = locked_file(context);
  if (built.prefix.empty()) return;
  built.packages = conda_packages_in(built.prefix);
  built.modules = activation_of(built.prefix);
}

}  // namespace sabath::env
