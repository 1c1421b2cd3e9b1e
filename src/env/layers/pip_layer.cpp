#include "pip_layer.hpp"

#include "layer_variables.hpp"
#include "locked_layer.hpp"
#include "package_check.hpp"
#include "package_install.hpp"
#include "tools/pip.hpp"
#include "tools/platform.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// What runs code of others before anything of it was imported.
void announce_sources(const std::string& layer,
                      const std::vector<spec::LockedPackage>& packages,
                      base::Observer& observer) {
  std::string names;
  for (const spec::LockedPackage& package : packages) {
    if (package.is_source())
      names += (names.empty() ? "" : ", ") + package.name + " " + package.version;
  }
  if (names.empty()) return;
  observer.warn(place_of(layer) + ": " + names + ": built from source, which runs their code here",
                "only packages that the recipe names in \"from_source\" are");
}

/// Python needs no folder of its own to write to, and none of the build's to be found again.
base::Environment install_variables(base::Environment variables) {
  // With it, bytecode would be checked against its source at every import.
  variables.erase("SOURCE_DATE_EPOCH");
  variables["PYTHONNOUSERSITE"] = "1";
  return variables;
}

}  // namespace

PipLayer::PipLayer(base::ProcessRunner& processes,
                   std::shared_ptr<Memo> memo,
                   base::Environment user)
    : processes_(processes), memo_(memo), toolchain_(processes, memo), user_(std::move(user)) {}

PipLayer::Locked PipLayer::locked(const LayerContext& context) {
  const auto lock = read_locked_layer(context, read_packages(context).digest);
  Python python = find_python(context, processes_, *memo_);
  spec::PlatformPackages packages = packages_for(context, lock, python.platform, python.tag);
  return {std::move(python), std::move(packages)};
}

std::map<std::string, std::string> PipLayer::resolve(const LayerContext& context) {
  const Locked found = locked(context);
  std::map<std::string, std::string> facts{
      {"python", found.python.implementation + " " + found.python.version}};
  bool compiles = false;
  for (const spec::LockedPackage& package : found.packages.packages) {
    facts["package." + package.name] = package.version + " " + package.digest.text();
    compiles = compiles || package.is_source();
  }
  if (!compiles) return facts;
  facts["platform.level"] = architecture_level();
  for (const auto& [language, command] : {std::pair{"c", "cc"}, std::pair{"c++", "c++"}}) {
    const auto tool = toolchain_.compiler(language, command, context.variables);
    facts[std::string("compiler.") + language] = tool ? tool->identity : "none";
  }
  return facts;
}

std::vector<fs::path> PipLayer::files_of(const LayerErrand& errand,
                                         const Locked& locked,
                                         const BringFiles& bring) {
  const auto& packages = locked.packages.packages;
  std::optional<Pip> pip;
  const Download download = [&](const std::vector<PinnedFile>& files, const fs::path& folder) {
    if (!pip) pip.emplace(errand, locked.python, processes_, user_);
    std::vector<spec::LockedPackage> some;
    for (const PinnedFile& file : files) {
      some.push_back(*std::find_if(packages.begin(), packages.end(), [&](const auto& one) {
        return one.file == file.name;
      }));
      errand.observer.note(place_of(errand.context.spec.name) + ": fetching " + file.what);
    }
    return pip->download(some, folder);
  };
  const std::vector<PinnedFile> wanted = pinned_files(packages);
  if (bring) return bring(wanted, download, errand.observer, errand.stop);
  const fs::path folder = errand.work / "download";
  base::make_directories(folder);
  return download(wanted, folder);
}

std::map<std::string, std::string> PipLayer::build(const LayerBuild& build) {
  if (build.stop.stop_requested()) {
    throw Error(ErrorKind::interrupted, place_of(build.lock.name) + ": interrupted");
  }
  const Locked found = locked(build.context);
  const auto& packages = found.packages.packages;
  announce_sources(build.lock.name, packages, build.observer);
  const LayerErrand errand{build.context, build.work, build.observer, build.stop, {}, build.limits};
  const PackageInstall install{build,
                               found.python,
                               packages,
                               files_of(errand, found, build.bring),
                               find_uv(build.context.variables)};
  BuildSteps steps(processes_, build, install_variables(build.context.variables));
  auto used = install_packages(install, processes_, steps);
  check_present(build, packages_in(build.prefix));
  return used;
}

std::vector<std::string> PipLayer::expectations(const LayerContext& context) {
  const PackageList list = read_packages(context);
  return package_expectations(context, {list.requested.begin(), list.requested.end()});
}

std::map<std::string, std::string> PipLayer::check_expectations(const LayerBuild& build) {
  std::vector<std::string> requested;
  for (const spec::LockedPackage& package : locked(build.context).packages.packages)
    if (package.requested) requested.push_back(package.name);
  return check_packages(build, {build.lock, build.prefix.string()}, requested, processes_);
}

spec::PackageLayerLock PipLayer::lock(const LayerErrand& errand, const LockTarget& target) {
  const LayerContext& context = errand.context;
  const PackageList list = read_packages(context);
  const Python python = find_python(context, processes_, *memo_);
  const std::string place = place_of(context.spec.name);
  std::optional<PipTarget> other;
  if (!target.platform.empty() || !target.python.empty()) other = pip_target(target, python, place);
  spec::PlatformPackages packages;
  packages.platform = other ? other->platform : python.platform;
  packages.python = other ? other->tag : python.tag;
  errand.observer.note(place + ": resolving for " + packages.platform + ", python " +
                       (other ? other->version : python.version));
  for (const std::string& name : context.spec.packages.from_source) {
    errand.observer.warn(
        place + ": " + name + " is to be built from source: resolving runs its code",
        "the recipe names it in \"from_source\"");
  }
  Pip pip(errand, python, processes_, user_);
  for (const std::string& name : pip.settings().left_out) {
    errand.observer.warn(place + ": your pip setting '" + base::printable(name) + "' is left out",
                         "what is installed depends on the recipe alone; indexes, certificates and "
                         "proxies are used");
  }
  packages.resolver = "pip " + pip.version();
  packages.packages = pip.resolve(list, other);
  return {kind(), context.spec.name, list.digest, {std::move(packages)}};
}

std::vector<PinnedFile> PipLayer::fetch(const LayerErrand& errand, const BringFiles& bring) {
  const Locked found = locked(errand.context);
  announce_sources(errand.context.spec.name, found.packages.packages, errand.observer);
  files_of(errand, found, bring);
  return pinned_files(found.packages.packages);
}

void PipLayer::describe(const LayerContext& context, spec::BuiltLayer& built) {
  built.lock_file = locked_file(context);
  if (!built.prefix.empty()) built.packages = packages_in(built.prefix);
}

}  // namespace sabath::env
