#include "builtin_layers.hpp"
#include "layer_variables.hpp"
#include "locked_layer.hpp"
#include "package_check.hpp"
#include "package_layer.hpp"
#include "tools/conda_engine.hpp"
#include "tools/platform.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/environment.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// A channel may lie in the recipe; the lock names the recipe by this label.
constexpr std::string_view recipe_label = "{recipe}";

std::string recipe_address(const LayerContext& context) {
  return file_url(fs::weakly_canonical(fs::absolute(context.recipe_directory)));
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

/// Returns the package at the URL of a lock; nothing where the two differ.
std::optional<CondaPackage> conda_package(const spec::LockedPackage& one) {
  auto package = conda_package_at(one.url.value_or(""));
  if (!package || package->file() != one.file || package->name != one.name ||
      package->version != one.version || package->build != one.build)
    return std::nullopt;
  package->sha256 = one.digest;
  return package;
}

/// Brings a package whose SHA-256 no channel and no list names, and returns it.
base::Digest digest_of_unknown(const LockRequest& request, const CondaPackage& package) {
  const std::string place = place_of(request.context.spec.name);
  request.observer.note(place + ": fetching " + package.file() + " for its SHA-256");
  const PinnedFile wanted{package.file(), {}, package.name + " " + package.version, {package.url}};
  const fs::path file = request.bring({wanted}, {}, request.observer, request.stop).at(0);
  if (package.md5) {
    const base::Digest found = base::digest_file(file, base::DigestAlgorithm::md5);
    if (found != *package.md5) {
      throw Error(ErrorKind::integrity,
                  place + ": cannot fetch " + package.file() +
                      ": the channel has other bytes than were locked: " + found.text() + ", not " +
                      package.md5->text(),
                  "somebody replaced the file; 'sabath env lock' shows what the channel has now");
    }
  }
  return base::digest_file(file);
}

/// Checks that all packages of an explicit list are for `subdir`.
void require_platform(const std::vector<CondaPackage>& packages,
                      const std::string& subdir,
                      const std::string& place) {
  std::vector<std::string> foreign;
  for (const CondaPackage& package : packages) {
    if (package.subdir() != subdir && package.subdir() != "noarch")
      foreign.push_back(package.subdir() + "/" + package.file());
  }
  if (foreign.empty()) return;
  throw_environment(
      place + ": the explicit list is not for " + subdir + ": " + in_words(foreign),
      "'sabath env lock --platform' locks for another machine, and each has its own list");
}

class CondaLayer final : public PackageLayer {
 public:
  using PackageLayer::PackageLayer;

  spec::LayerKind kind() const override { return spec::LayerKind::conda; }
  std::string_view description() const override { return "packages of conda channels"; }
  std::map<std::string, std::string> check_expectations(const LayerBuild& build) override {
    spec::BuiltLayer built{build.lock, build.prefix.string()};
    built.modules = activation_of(build.prefix);
    return check_packages(
        build, built, importable_packages(build.prefix, requested(build.context)), processes_);
  }

  base::Digest request_digest(const LayerContext& context) override {
    return read_conda_request(context).digest;
  }

  spec::PackageLayerLock lock(const LockRequest& request, const LockTarget& target) override {
    const LayerContext& context = request.context;
    const std::string place = place_of(context.spec.name);
    const CondaRequest wanted = read_conda_request(context);
    spec::PlatformPackages resolved;
    resolved.platform = target.platform.empty() ? platform_here() : target.platform;
    const std::string subdir = conda_subdir(resolved.platform);
    request.observer.note(place + ": resolving for " + resolved.platform);

    std::vector<CondaPackage> packages = wanted.listed;
    if (packages.empty()) {
      CondaSolution solution = solve_conda(request, wanted, subdir, processes_, user_);
      packages = std::move(solution.packages);
      resolved.resolver = std::move(solution.resolver);
    } else {
      require_platform(packages, subdir, place);
      resolved.resolver = "an explicit list";
    }
    for (CondaPackage& package : packages) {
      if (!package.sha256) package.sha256 = digest_of_unknown(request, package);
      resolved.packages.push_back({package.name,
                                   package.version,
                                   package.file(),
                                   *package.sha256,
                                   package.build,
                                   with_recipe(package.url, context),
                                   wanted.requested.contains(package.name)});
    }
    std::ranges::sort(resolved.packages, {}, &spec::LockedPackage::name);
    return {spec::LayerKind::conda, context.spec.name, wanted.digest, {std::move(resolved)}};
  }

  void describe(const LayerContext& context, spec::BuiltLayer& built) override {
    PackageLayer::describe(context, built);
    if (!built.prefix.empty()) built.modules = activation_of(built.prefix);
  }

 private:
  PackageLayer::Packages locked(const LayerContext& context) override {
    const auto lock = read_locked_layer(context, read_conda_request(context).digest);
    Packages packages = packages_for(context, lock, platform_here()).packages;
    for (spec::LockedPackage& one : packages) {
      const std::string url = one.url.value_or("");
      one.url = without_recipe(url, context);
      if (conda_package(one)) continue;
      throw Error(ErrorKind::usage,
                  place_of(context.spec.name) + ": " +
                      lock_file_of(context.recipe_directory).string() + ": '" +
                      base::printable(url) + "' is not where " + one.file + " is",
                  "'sabath env lock RECIPE' writes it anew");
    }
    return packages;
  }

  std::set<std::string> requested(const LayerContext& context) override {
    return read_conda_request(context).requested;
  }

  std::map<std::string, std::string> install(const LayerBuild& build,
                                             const Packages& packages,
                                             const std::vector<fs::path>& files) override {
    std::vector<CondaPackage> condas;
    for (const spec::LockedPackage& one : packages)
      condas.push_back(*conda_package(one));
    return install_conda({build, condas, files}, processes_);
  }

  std::map<std::string, std::string> installed(const fs::path& prefix) const override {
    return conda_packages_in(prefix);
  }
};

}  // namespace

std::unique_ptr<EnvironmentLayer> make_conda_layer(const LayerTools& tools) {
  return std::make_unique<CondaLayer>(tools);
}

}  // namespace sabath::env
