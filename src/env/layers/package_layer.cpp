#include "package_layer.hpp"

#include "locked_layer.hpp"
#include "package_check.hpp"

#include <sabath/base/file.hpp>

namespace sabath::env {

namespace fs = std::filesystem;

std::map<std::string, std::string> PackageLayer::facts_of(const Packages& packages) {
  std::map<std::string, std::string> facts;
  for (const spec::LockedPackage& package : packages) {
    const std::string build = package.build ? "=" + *package.build : "";
    facts["package." + package.name] = package.version + build + " " + package.digest.text();
  }
  return facts;
}

std::map<std::string, std::string> PackageLayer::resolve(const LayerContext& context) {
  return facts_of(locked(context));
}

std::map<std::string, std::string> PackageLayer::build(const LayerBuild& build) {
  require_not_stopped(build);
  const Packages packages = locked(build.context);
  LockRequest request = static_cast<const LockRequest&>(build);
  request.work /= "fetch";
  base::make_directories(request.work);
  return install(build, packages, bring(request, packages));
}

std::vector<std::string> PackageLayer::expectations(const LayerContext& context) {
  const std::set<std::string> names = requested(context);
  return package_expectations(context, {names.begin(), names.end()});
}

std::vector<fs::path> PackageLayer::bring(const LockRequest& request, const Packages& packages) {
  announce(request, packages);
  return request.bring(
      pinned_files(packages), download(request, packages), request.observer, request.stop);
}

std::vector<PinnedFile> PackageLayer::fetch(const LockRequest& request) {
  const Packages packages = locked(request.context);
  bring(request, packages);
  return pinned_files(packages);
}

void PackageLayer::describe(const LayerContext& context, spec::BuiltLayer& built) {
  built.lock_file = locked_file(context);
  if (!built.prefix.empty()) built.packages = installed(built.prefix);
}

}  // namespace sabath::env
