#include "container_layer.hpp"

#include "container_check.hpp"
#include "images/image_layout.hpp"
#include "images/image_registry.hpp"
#include "layer_variables.hpp"
#include "locked_layer.hpp"
#include "tools/platform.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr const char* sif_name = "image.sif";
constexpr const char* config_name = "config";

/// What the lock has for this machine.
struct Locked {
  ImageReference image{};
  base::Digest manifest{};
  base::Digest config{};
  std::vector<PinnedFile> blobs{};
};

ImageReference reference_in(const LayerContext& context) {
  return parse_image(context.spec.container.image, place_of(context.spec.name));
}

base::Digest request_digest(const LayerContext& context) {
  return base::sha256_of("sabath-image/1\nimage " + reference_in(context).text() + "\n");
}

std::string this_platform() {
  const auto facts = platform_facts();
  const auto machine = facts.find("platform.architecture");
  return "linux-" + (machine == facts.end() ? "unknown" : machine->second);
}

Locked locked(const LayerContext& context) {
  const auto lock = read_locked_layer(context, request_digest(context));
  const auto& packages = packages_for(context, lock, this_platform()).packages;
  Locked found{reference_in(context), {}, {}, pinned_files(packages)};
  for (const spec::LockedPackage& package : packages) {
    if (package.requested) found.manifest = package.digest;
    if (package.name == config_name) found.config = package.digest;
  }
  if (!found.manifest.hex.empty() && !found.config.hex.empty()) return found;
  throw Error(ErrorKind::usage,
              place_of(context.spec.name) + ": the lock names no image and its configuration",
              "'sabath env lock RECIPE' writes it anew");
}

/// The blobs by their digests, out of the cache or the registry. One download brings them all.
std::map<base::Digest, fs::path> bring_blobs(const Locked& locked,
                                             const LayerErrand& errand,
                                             const ImageTools& tools,
                                             const BringFiles& bring) {
  const fs::path all = errand.work / "blobs";
  const auto bring_one = [&](const PinnedFile& file, const fs::path& folder) {
    const fs::path blob = all / file.digest.hex;
    std::error_code code;
    if (!fs::exists(blob, code)) {
      base::remove_tree(all);
      base::make_directories(all);
      errand.observer.note(tools.place() + ": fetching " + locked.image.pinned(locked.manifest));
      download_image(locked.image, locked.manifest, all, tools);
    }
    const fs::path brought = folder / file.digest.hex;
    fs::rename(blob, brought, code);
    if (code) fs::copy_file(blob, brought, code);
    if (code) base::throw_errno(brought.string(), "cannot write", code.value());
    return brought;
  };
  const Download download = [&](const std::vector<PinnedFile>& files, const fs::path& folder) {
    std::vector<fs::path> brought;
    for (const PinnedFile& file : files)
      brought.push_back(bring_one(file, folder));
    return brought;
  };
  std::vector<fs::path> paths;
  if (bring) {
    paths = bring(locked.blobs, download, errand.observer, errand.stop);
  } else {
    base::make_directories(errand.work / "brought");
    paths = download(locked.blobs, errand.work / "brought");
  }
  std::map<base::Digest, fs::path> blobs;
  for (std::size_t i = 0; i < paths.size(); ++i)
    blobs.emplace(locked.blobs[i].digest, paths[i]);
  return blobs;
}

fs::path layout_in(const fs::path& prefix, const std::string& image_digest) {
  // Images in an engine's store are called after it: several must not share a name.
  return prefix / ("image-" + image_digest.substr(image_digest.find(':') + 1, 12));
}

}  // namespace

ContainerLayer::ContainerLayer(base::ProcessRunner& processes,
                               std::shared_ptr<Memo> memo,
                               base::Environment user)
    : processes_(processes), toolchain_(processes, std::move(memo)), user_(std::move(user)) {}

ImageTools ContainerLayer::tools_for(const LayerErrand& errand, fs::path log) const {
  return {processes_,
          tool_environment(user_, errand.context.variables),
          place_of(errand.context.spec.name),
          errand.stop,
          std::move(log),
          errand.limits};
}

std::map<std::string, std::string> ContainerLayer::resolve(const LayerContext& context) {
  const Locked found = locked(context);
  const ContainerEngine engine = find_engine(context, toolchain_);
  std::map<std::string, std::string> facts{
      {"image", found.manifest.text()},
      // What lies in the prefix, whichever engine of those that run it is here.
      {"form", engine.runs_files() ? "sif" : "oci"}};
  if (context.spec.container.gpus) facts["gpus"] = "all";
  for (const std::string& bind : context.spec.container.binds)
    facts["bind." + bind] = "yes";
  return facts;
}

std::map<std::string, std::string> ContainerLayer::build(const LayerBuild& build) {
  if (build.stop.stop_requested())
    throw Error(ErrorKind::interrupted, place_of(build.lock.name) + ": interrupted");
  const LayerErrand errand{build.context, build.work, build.observer, build.stop, {}, build.limits};
  const Locked found = locked(build.context);
  const ContainerEngine engine = find_engine(build.context, toolchain_);
  const ImageTools tools = tools_for(errand, build.log);
  std::map<std::string, std::string> present{{"engine.program", engine.program.string()},
                                             {"engine.version", engine.version},
                                             {"image.name", found.image.text()},
                                             {"image.id", found.config.text()}};
  const fs::path root = engine.runs_files() ? build.work : build.prefix;
  const fs::path layout = layout_in(root, found.manifest.text());
  std::string source = "oci:" + layout.string();
  try {
    const auto blobs = bring_blobs(found, errand, tools, build.bring);
    write_layout(layout, found.manifest, blobs, tools.place());
  } catch (const Error& error) {
    // Apptainer, alone on many clusters, can fetch the image by its digest itself.
    const bool lacks_tool = error.kind() == ErrorKind::environment && !tools.find("skopeo");
    if (!engine.runs_files() || !lacks_tool) throw;
    source = "docker://" + found.image.pinned(found.manifest);
  }
  if (engine.runs_files()) {
    const fs::path file = build.prefix / sif_name;
    build.observer.note(tools.place() + ": making a file of the image with " + engine.name);
    tools.ask("make " + file.string(), {engine.program.string(), "build", file.string(), source});
    present["image.sif"] = base::digest_file(file).text();
  }
  return present;
}

std::vector<std::string> ContainerLayer::expectations(const LayerContext& context) {
  std::vector<std::string> lines{"start with " + find_engine(context, toolchain_).name};
  for (const std::string& name : context.spec.commands)
    lines.push_back("command " + name);
  return lines;
}

std::map<std::string, std::string> ContainerLayer::check_expectations(const LayerBuild& build) {
  const ContainerEngine engine = find_engine(build.context, toolchain_);
  build.observer.note(place_of(build.lock.name) + ": starting " + engine.name + " with the image");
  spec::BuiltLayer built{.lock = build.lock,
                         .prefix = build.prefix.string(),
                         .variables = build.context.spec.variables};
  describe(build.context, built);
  check_container(build, built, user_, processes_);
  return {};
}

spec::PackageLayerLock ContainerLayer::lock(const LayerErrand& errand, const LockTarget& target) {
  const LayerContext& context = errand.context;
  const ImageReference image = reference_in(context);
  spec::PlatformPackages packages;
  packages.platform = target.platform.empty() ? this_platform() : target.platform;
  const ImageTools tools = tools_for(errand);
  errand.observer.note(tools.place() + ": looking up " + image.text() + " for " +
                       packages.platform);
  const ResolvedImage resolved = resolve_image(image, image_platform(packages.platform), tools);
  packages.resolver = resolved.tool;
  const ImageManifest& manifest = resolved.manifest;
  const auto add = [&](const std::string& name, const base::Digest& digest) {
    packages.packages.push_back({.name = name, .file = digest.hex, .digest = digest});
  };
  add(image.name, manifest.digest);
  packages.packages.back().version = image.tag;
  packages.packages.back().requested = true;
  add(config_name, manifest.config);
  // An image may have the same layer twice.
  const std::set<base::Digest> layers(manifest.layers.begin(), manifest.layers.end());
  for (const base::Digest& layer : layers)
    add(fmt::format("layer-{:03}", packages.packages.size() - 1), layer);
  std::sort(packages.packages.begin(), packages.packages.end(), [](const auto& a, const auto& b) {
    return a.name < b.name;
  });
  return {kind(), context.spec.name, request_digest(context), {std::move(packages)}};
}

std::vector<PinnedFile> ContainerLayer::fetch(const LayerErrand& errand, const BringFiles& bring) {
  const Locked found = locked(errand.context);
  bring_blobs(found, errand, tools_for(errand), bring);
  return found.blobs;
}

void ContainerLayer::describe(const LayerContext& context, spec::BuiltLayer& built) {
  const Locked found = locked(context);
  const ContainerEngine engine = find_engine(context, toolchain_);
  built.lock_file = locked_file(context);
  if (built.prefix.empty()) return;
  const fs::path image = engine.runs_files() ? fs::path(built.prefix) / sif_name
                                             : layout_in(built.prefix, found.manifest.text());
  built.container = spec::ContainerImage{engine.name,
                                         engine.program.string(),
                                         image.string(),
                                         context.spec.container.gpus,
                                         context.spec.container.binds};
}

}  // namespace sabath::env
