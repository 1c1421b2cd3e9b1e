#include "builtin_layers.hpp"
#include "container_images/image_registry.hpp"
#include "layer_variables.hpp"
#include "locked_layer.hpp"
#include "source/build_steps.hpp"
#include "tools/platform.hpp"
#include "tools/toolchain.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/container_command.hpp>

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

/// A container engine of this machine.
struct ContainerEngine {
  std::string name{};  ///< "apptainer", "singularity", "podman", "docker"
  std::string program{};
  std::string version{};  ///< as it reports itself

  bool runs_files() const { return runs_image_files(name); }
};

/// Returns the first engine on the PATH, of those that the layer names or of all. Throws
/// Error{environment} without one.
ContainerEngine find_engine(const LayerContext& context, Toolchain& toolchain) {
  std::vector<std::string> names = context.spec.container.engines;
  if (names.empty()) names = {"apptainer", "singularity", "podman", "docker"};
  for (const std::string& name : names) {
    if (const auto tool = toolchain.tool(name, context.variables))
      return {name, tool->command.front(), tool->identity};
  }
  throw_environment(
      place_of(context.spec.name) + ": no container engine on PATH: " + in_words(names),
      "install one of them, or load the module that has it in a layer before; PATH "
      "is '" +
          base::printable(search_path(context.variables)) + "'");
}

/// Image in the lock for this machine.
struct Locked {
  ImageReference image{};
  base::Digest manifest{};
  base::Digest config{};
  std::vector<PinnedFile> blobs{};
};

ImageReference reference_in(const LayerContext& context) {
  return parse_image(context.spec.container.image, place_of(context.spec.name));
}

base::Digest digest_of_request(const LayerContext& context) {
  return base::sha256_of("sabath-image/1\nimage " + reference_in(context).text() + "\n");
}

Locked locked(const LayerContext& context) {
  const auto lock = read_locked_layer(context, digest_of_request(context));
  const auto& packages = packages_for(context, lock, platform_here()).packages;
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

/// Brings the blobs, by their digests, from the cache or the registry. One download brings all.
std::map<base::Digest, fs::path> bring_blobs(const Locked& locked,
                                             const LockRequest& request,
                                             const ImageTools& tools) {
  const fs::path all = request.work / "blobs";
  const auto bring_one = [&](const PinnedFile& file, const fs::path& folder) {
    const fs::path blob = all / file.digest.hex;
    std::error_code code;
    if (!fs::exists(blob, code)) {
      base::remove_tree(all);
      base::make_directories(all);
      request.observer.note(tools.place() + ": fetching " + locked.image.pinned(locked.manifest));
      download_image(locked.image, locked.manifest, all, tools);
    }
    fs::path brought = folder / file.digest.hex;
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
  const auto paths = request.bring(locked.blobs, download, request.observer, request.stop);
  std::map<base::Digest, fs::path> blobs;
  for (std::size_t i = 0; i < paths.size(); ++i)
    blobs.emplace(locked.blobs[i].digest, paths[i]);
  return blobs;
}

fs::path layout_in(const fs::path& prefix, const std::string& image_digest) {
  // Engines name images after this folder: several must not share a name.
  return prefix / ("image-" + image_digest.substr(image_digest.find(':') + 1, 12));
}

/// Prints the names that are not found.
constexpr const char* look = R"(for name; do command -v "$name" >/dev/null || echo "$name"; done)";

/// Returns true for failures of the engine, by its manual; false for an image without a shell.
bool is_of_engine(const std::string& engine, const base::ProcessResult& result) {
  if (result.end != base::ProcessEnd::exited) return true;
  const auto says = [&](const char* text) { return result.errors.find(text) != std::string::npos; };
  const int code = result.exit_code;
  const bool lacks_shell = says("executable file") && says("not found");
  if (runs_image_files(engine)) return code == 255 && !lacks_shell;
  // A shell, too, ends with 126 or 127.
  const bool runtime_failed = (code == 126 || code == 127) && !lacks_shell;
  return code == 125 || (runtime_failed && (says("OCI") || says("runc") || says("crun")));
}

/// Starts a container of the finished image as stages do. Checks that the engine works for this
/// user and that the image has the commands that the layer names. Throws
/// Error{environment|interrupted}.
void check_container(const LayerBuild& build,
                     const spec::BuiltLayer& layer,
                     const base::Environment& user,
                     base::ProcessRunner& processes) {
  const std::string place = place_of(build.lock.name);
  const std::vector<std::string>& wanted = build.context.spec.commands;
  ContainerUse use;
  use.argv = {"sh", "-c", look, "sh"};
  use.argv.insert(use.argv.end(), wanted.begin(), wanted.end());
  use.working_directory = "/";
  use.home = "/tmp";
  use.id_file = build.work / "container.id";
  use.scratch = build.work;
  spec::BuiltEnvironment environment{build.context.before};
  environment.layers.push_back(layer);
  const ContainerCommand command = container_command(environment, use, user, processes, build.stop);
  const ImageTools tools(
      processes, command.environment, place, build.stop, build.log, build.limits);
  base::ProcessResult result;
  try {
    result = tools.run(command.argv);
  } catch (...) {
    remove_container(command, processes);
    throw;
  }
  if (is_of_engine(layer.container->engine, result))
    tools.fail("start a container of the image", result);
  if (wanted.empty()) return;
  std::vector<std::string> missing = base::split(result.output, '\n');
  if (missing.empty() && result.ok()) return;
  if (missing.empty()) missing = {"sh, which looks for the others"};
  throw_environment(place + ": the image has no such command: " + in_words(missing),
                    "\"commands\" of a container layer are programs on the PATH of the image; the "
                    "log of the build is " +
                        build.log.string());
}

class ContainerLayer final : public EnvironmentLayer {
 public:
  explicit ContainerLayer(const LayerTools& tools)
      : processes_(tools.processes), toolchain_(tools.processes, tools.memo), user_(tools.user) {}

  spec::LayerKind kind() const override { return spec::LayerKind::container; }
  std::string_view description() const override { return "an image of a container"; }
  std::map<std::string, std::string> resolve(const LayerContext& context) override {
    const Locked found = locked(context);
    const ContainerEngine engine = find_engine(context, toolchain_);
    std::map<std::string, std::string> facts{
        {"image", found.manifest.text()},
        // Form of the image in the prefix; several engines can run it.
        {"form", engine.runs_files() ? "sif" : "oci"}};
    if (context.spec.container.gpus) facts["gpus"] = "all";
    for (const std::string& bind : context.spec.container.binds)
      facts["bind." + bind] = "yes";
    return facts;
  }

  bool has_prefix() const override { return true; }
  std::map<std::string, std::string> build(const LayerBuild& build) override {
    require_not_stopped(build);
    const Locked found = locked(build.context);
    const ContainerEngine engine = find_engine(build.context, toolchain_);
    const ImageTools tools = tools_for(build, build.log);
    std::map<std::string, std::string> present{{"engine.program", engine.program},
                                               {"engine.version", engine.version},
                                               {"image.name", found.image.text()},
                                               {"image.id", found.config.text()}};
    const fs::path root = engine.runs_files() ? build.work : build.prefix;
    const fs::path layout = layout_in(root, found.manifest.text());
    std::string source = "oci:" + layout.string();
    try {
      const auto blobs = bring_blobs(found, build, tools);
      write_layout(layout, found.manifest, blobs, tools.place());
    } catch (const Error& error) {
      // Apptainer, the only engine on many clusters, can fetch the image by its digest.
      const bool lacks_tool = error.kind() == ErrorKind::environment && !tools.find("skopeo");
      if (!engine.runs_files() || !lacks_tool) throw;
      source = "docker://" + found.image.pinned(found.manifest);
    }
    if (engine.runs_files()) {
      const fs::path file = build.prefix / sif_name;
      build.observer.note(tools.place() + ": making a file of the image with " + engine.name);
      tools.ask("make " + file.string(), {engine.program, "build", file.string(), source});
      present["image.sif"] = base::digest_file(file).text();
    }
    return present;
  }

  std::vector<std::string> expectations(const LayerContext& context) override {
    std::vector<std::string> lines{"start with " + find_engine(context, toolchain_).name};
    for (const std::string& name : context.spec.commands)
      lines.push_back("command " + name);
    return lines;
  }

  std::map<std::string, std::string> check_expectations(const LayerBuild& build) override {
    const ContainerEngine engine = find_engine(build.context, toolchain_);
    build.observer.note(place_of(build.lock.name) + ": starting " + engine.name +
                        " with the image");
    spec::BuiltLayer built{.lock = build.lock,
                           .prefix = build.prefix.string(),
                           .variables = build.context.spec.variables};
    describe(build.context, built);
    check_container(build, built, user_, processes_);
    return {};
  }

  bool is_locked(const spec::LayerSpec& /*spec*/) const override { return true; }
  base::Digest request_digest(const LayerContext& context) override {
    return digest_of_request(context);
  }
  spec::PackageLayerLock lock(const LockRequest& request, const LockTarget& target) override {
    const LayerContext& context = request.context;
    const ImageReference image = reference_in(context);
    spec::PlatformPackages packages;
    packages.platform = target.platform.empty() ? platform_here() : target.platform;
    const ImageTools tools = tools_for(request);
    request.observer.note(tools.place() + ": looking up " + image.text() + " for " +
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
    std::ranges::sort(packages.packages, {}, &spec::LockedPackage::name);
    return {kind(), context.spec.name, digest_of_request(context), {std::move(packages)}};
  }

  std::vector<PinnedFile> fetch(const LockRequest& request) override {
    const Locked found = locked(request.context);
    bring_blobs(found, request, tools_for(request));
    return found.blobs;
  }

  void describe(const LayerContext& context, spec::BuiltLayer& built) override {
    const Locked found = locked(context);
    const ContainerEngine engine = find_engine(context, toolchain_);
    built.lock_file = locked_file(context);
    if (built.prefix.empty()) return;
    const fs::path image = engine.runs_files() ? fs::path(built.prefix) / sif_name
                                               : layout_in(built.prefix, found.manifest.text());
    built.container = spec::ContainerImage{engine.name,
                                           engine.program,
                                           image.string(),
                                           context.spec.container.gpus,
                                           context.spec.container.binds};
  }

 private:
  ImageTools tools_for(const LockRequest& request, fs::path log = {}) const {
    return {processes_,
            tool_environment(user_, request.context.variables),
            place_of(request.context.spec.name),
            request.stop,
            std::move(log),
            request.limits};
  }

  base::ProcessRunner& processes_;
  Toolchain toolchain_;
  base::Environment user_;
};

}  // namespace

std::unique_ptr<EnvironmentLayer> make_container_layer(const LayerTools& tools) {
  return std::make_unique<ContainerLayer>(tools);
}

}  // namespace sabath::env
