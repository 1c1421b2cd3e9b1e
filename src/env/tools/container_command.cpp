#include "container_images/image_manifest.hpp"
#include "container_images/image_tools.hpp"
#include "layers/layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>

#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using Words = std::vector<std::string>;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// Parameters of one start of a container.
struct Start {
  const spec::BuiltLayer& layer;
  const spec::ContainerImage& image;
  const ContainerUse& use;
  base::Environment inside{};  ///< variables for the command
  /// By the path inside, so that folders come before their content.
  struct Bind {
    std::string source{};
    bool is_writable = false;
  };
  std::map<std::string, Bind> binds{};
};

std::string mountable(const fs::path& path, const std::string& place) {
  std::string text = path.lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  // Engines read mounts as lists with commas, some with quotes.
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  throw_environment(place + ": '" + base::printable(text) +
                        "' cannot be seen in a container: its name has a comma or a quote",
                    "rename the folder");
}

void add_bind(Start& start, const fs::path& source, const fs::path& inside, bool is_writable) {
  const std::string place = place_of(start.layer.lock.name);
  const std::string target = mountable(inside, place);
  if (target.empty() || target == "/") return;
  Start::Bind& known = start.binds[target];
  known = {mountable(source, place), known.is_writable || is_writable};
}

void add_bind(Start& start, const fs::path& path, bool is_writable) {
  add_bind(start, path, path, is_writable);
}

/// Adds a bind of the recipe: HOST[:CONTAINER[:ro]].
void add_own_bind(Start& start, const std::string& text) {
  const auto colon = text.find(':');
  const std::string source = text.substr(0, colon);
  std::string target = colon == std::string::npos ? source : text.substr(colon + 1);
  const bool is_read_only = target.ends_with(":ro");
  target = target.substr(0, target.find(':'));
  std::error_code code;
  if (!fs::exists(source, code)) {
    throw_environment(place_of(start.layer.lock.name) + ": " + base::printable(source) +
                          ": no such file or folder on this machine",
                      "the recipe names it among the container's \"binds\"");
  }
  add_bind(start, source, target, !is_read_only);
}

Words mounts(const Start& start, const std::string& read_only) {
  Words words;
  for (const auto& [target, bind] : start.binds) {
    words.emplace_back("--mount");
    words.push_back("type=bind,source=" + bind.source + ",destination=" + target +
                    (bind.is_writable ? "" : "," + read_only));
  }
  return words;
}

bool has_device(const ContainerUse& use, const char* name) {
  std::error_code code;
  return fs::exists(use.device_directory / name, code);
}

/// Returns options only where this machine has a GPU: a recipe may serve both kinds of nodes.
Words gpu_options(const Start& start) {
  if (!start.image.gpus) return {};
  const std::string& engine = start.image.engine;
  const bool is_nvidia = has_device(start.use, "nvidiactl");
  const bool is_amd = has_device(start.use, "kfd");
  if (runs_image_files(engine)) {
    Words words;
    if (is_nvidia) words.emplace_back("--nv");
    if (is_amd) words.emplace_back("--rocm");
    return words;
  }
  Words words;
  if (is_nvidia)
    words = engine == "podman" ? Words{"--device", "nvidia.com/gpu=all"} : Words{"--gpus", "all"};
  if (is_amd) append(words, {"--device", "/dev/kfd", "--device", "/dev/dri"});
  return words;
}

/// Apptainer and Singularity take the command's variables from their own.
ContainerCommand file_command(const Start& start, base::Environment outside) {
  const std::string prefix =
      start.image.engine == "apptainer" ? "APPTAINERENV_" : "SINGULARITYENV_";
  for (const auto& [name, value] : start.inside)
    outside[prefix + name] = value;
  // Without the user's home, and without a shell that evaluates the values.
  Words argv{start.image.program, "exec", "--cleanenv", "--no-eval", "--no-privs"};
  append(argv, {"--home", start.use.home.string()});
  append(argv, {"--pwd", start.use.working_directory.string()});
  append(argv, mounts(start, "ro"));
  append(argv, gpu_options(start));
  argv.push_back(start.image.image);
  append(argv, start.use.argv);
  return {std::move(argv), std::move(outside), {}, {}};
}

/// podman's init program is not installed everywhere; docker has one.
bool has_init(const std::string& engine) {
  constexpr std::array<const char*, 4> places{"/usr/libexec/podman/catatonit",
                                              "/usr/local/libexec/podman/catatonit",
                                              "/usr/lib/podman/catatonit",
                                              "/usr/bin/catatonit"};
  std::error_code code;
  return engine == "docker" ||
         std::ranges::any_of(places, [&](const char* place) { return fs::exists(place, code); });
}

bool has_line_for(const char* file, const std::string& name, const std::string& id) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::string owner = line.substr(0, line.find(':'));
    if (!owner.empty() && (owner == name || owner == id)) return true;
  }
  return false;
}

/// Returns true where this user has ranges of further user and group ids.
bool has_user_ranges() {
  const std::string name = base::user_name();
  const std::string id = std::to_string(::getuid());
  return has_line_for("/etc/subuid", name, id) && has_line_for("/etc/subgid", name, id);
}

/// Returns options for the user inside, so that written files belong to the user outside.
Words user_options(const std::string& engine, bool is_rootless) {
  // Without ranges the only user inside is root, who is this user outside.
  if (engine == "podman" && is_rootless)
    return has_user_ranges() ? Words{"--userns", "keep-id"} : Words{};
  if (is_rootless) return {};
  Words words{"--user", std::to_string(::getuid()) + ":" + std::to_string(::getgid())};
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  groups.resize(static_cast<std::size_t>(
      std::max(::getgroups(static_cast<int>(groups.size()), groups.data()), 0)));
  for (const gid_t group : groups)
    append(words, {"--group-add", std::to_string(group)});
  return words;
}

/// Returns true for variables of schedulers and users that runtimes inside read.
bool is_for_runtimes(const std::string& name) {
  static const base::Form form(
      "(?s)(?:SLURM_|PMI_|PMIX_|OMPI_|MPICH_|UCX_|NCCL_|OMP_|KMP_|MKL_|OPENBLAS_|"
      "CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|ZE_AFFINITY_MASK).*");
  return form.matches(name);
}

/// Returns true for variables that the engine itself reads: with other values it would not find its
/// images.
bool leads_engine(const std::string& name, const base::Environment& outside) {
  return outside.contains(name) || name.starts_with("LD_") || name.starts_with("XDG_") ||
         name.starts_with("CONTAINER") || name.starts_with("DOCKER_") || name == "TMPDIR";
}

/// Shares the host's shared memory. Podman refuses --ipc=host on a host without message queues.
Words shared_memory(const Start& start) {
  if (start.image.engine == "docker" || has_device(start.use, "mqueue")) return {"--ipc=host"};
  return {"--mount", "type=bind,source=/dev/shm,destination=/dev/shm"};
}

ContainerCommand store_command(const Start& start,
                               base::Environment outside,
                               const std::string& image,
                               bool is_rootless) {
  const std::string& engine = start.image.engine;
  // Network and shared memory are the host's, as MPI and data loaders expect. Only sabath keeps the
  // output.
  Words argv{start.image.program, "run", "--rm", "--pull=never", "--network=host"};
  append(argv, {"--log-driver=none", "--security-opt", "label=disable", "--pids-limit=-1"});
  if (engine == "podman") argv.emplace_back("--http-proxy=false");
  append(argv, shared_memory(start));
  if (has_init(engine)) argv.emplace_back("--init");
  if (start.use.is_interactive) argv.emplace_back("--interactive");
  if (start.use.has_terminal) argv.emplace_back("--tty");
  append(argv, user_options(engine, is_rootless));
  if (!start.use.id_file.empty()) append(argv, {"--cidfile", start.use.id_file.string()});
  append(argv, {"--workdir", start.use.working_directory.string()});
  append(argv, mounts(start, "readonly"));
  append(argv, gpu_options(start));
  for (const auto& [name, value] : start.inside) {
    argv.emplace_back("--env");
    if (leads_engine(name, outside)) {
      argv.push_back(name + "=" + value);
    } else {
      argv.push_back(name);
      outside[name] = value;
    }
  }
  append(argv, {"--entrypoint", start.use.argv.front(), image});
  argv.insert(argv.end(), start.use.argv.begin() + 1, start.use.argv.end());
  Words removal{start.image.program, "rm", "--force", "--volumes"};
  return {std::move(argv), std::move(outside), std::move(removal), start.use.id_file};
}

/// Returns the id by which podman or docker has the image: the digest of its configuration or, in
/// stores of containerd, of its manifest. Nothing where the image is missing.
std::optional<std::string> image_in_store(const std::string& program,
                                          const std::vector<std::string>& ids,
                                          const ImageTools& tools) {
  for (const std::string& id : ids) {
    const base::ProcessResult result =
        tools.run({program, "image", "inspect", "--format", "{{.Id}}", id});
    if (!result.ok()) continue;
    std::string found = result.output.substr(0, result.output.find('\n'));
    if (!found.starts_with("sha256:")) found.insert(0, "sha256:");
    if (found == id) return found;
  }
  return std::nullopt;
}

/// Loads the image of a layout into the store of podman or docker. `work` is scratch.
void load_layout(const std::string& engine,
                 const std::string& program,
                 const fs::path& layout,
                 const fs::path& work,
                 const ImageTools& tools) {
  if (engine == "podman") {
    // It names the image after this path, which must be in lower case.
    const std::string path = layout.filename().string();
    tools.ask("load the image", {program, "pull", "--quiet", "oci:" + path}, layout.parent_path());
    return;
  }
  const std::string archive = (work / "image.tar").string();
  tools.ask("pack the image",
            {"tar",
             "--create",
             "--file",
             archive,
             "--directory",
             layout.string(),
             "blobs",
             "index.json",
             "manifest.json",
             "oci-layout"});
  tools.ask("load the image", {program, "load", "--quiet", "--input", archive});
  std::error_code code;
  fs::remove(archive, code);
}

/// Returns the image's name in the user's store, and loads it where it is missing.
std::string loaded_image(const Start& start, const ImageTools& tools) {
  const std::string& program = start.image.program;
  const Words ids = image_ids(start.image.image, tools.place());
  auto found = image_in_store(program, ids, tools);
  if (!found) {
    const base::TempDir work(start.use.scratch.empty() ? fs::temp_directory_path()
                                                       : start.use.scratch);
    load_layout(start.image.engine, program, start.image.image, work.path(), tools);
    found = image_in_store(program, ids, tools);
  }
  if (found) return *found;
  throw_environment(tools.place() + ": " + start.image.engine +
                    " loaded the image as another one than " + in_words(ids));
}

bool is_rootless(const Start& start, const ImageTools& tools) {
  if (start.image.engine == "podman") return ::getuid() != 0;
  const auto said = tools.run({start.image.program, "info", "--format", "{{.SecurityOptions}}"});
  return said.output.find("name=rootless") != std::string::npos;
}

}  // namespace

const spec::BuiltLayer* container_of(const spec::BuiltEnvironment& environment) {
  if (environment.layers.empty() || !environment.layers.back().container) return nullptr;
  return &environment.layers.back();
}

ContainerCommand container_command(const spec::BuiltEnvironment& environment,
                                   const ContainerUse& use,
                                   const base::Environment& user,
                                   base::ProcessRunner& processes,
                                   std::stop_token stop) {
  const spec::BuiltLayer& layer = environment.layers.back();
  spec::BuiltEnvironment before = environment;
  before.layers.pop_back();
  const base::Environment variables = run_variables(before, clean_environment(user));
  base::Environment own = variables;
  set_own_variables(own, layer.variables, layer.lock.name);

  Start start{layer, *layer.container, use, {}, {}};
  for (const auto& [name, value] : user) {
    if (is_for_runtimes(name)) start.inside[name] = value;
  }
  for (const auto& [name, value] : layer.variables)
    start.inside[name] = own.at(name);
  for (const auto& [name, value] : use.variables)
    start.inside[name] = value;
  for (const std::string& bind : start.image.binds)
    add_own_bind(start, bind);
  for (const spec::BuiltLayer& one : before.layers)
    add_bind(start, one.prefix, false);
  for (const fs::path& path : use.readable)
    add_bind(start, path, false);
  for (const fs::path& path : use.writable)
    add_bind(start, path, true);
  add_bind(start, use.working_directory, true);

  base::Environment outside = tool_environment(user, variables);
  if (runs_image_files(start.image.engine)) return file_command(start, std::move(outside));
  start.inside.insert({"HOME", use.home.string()});
  const ImageTools tools(processes, outside, place_of(layer.lock.name), std::move(stop));
  const std::string image = loaded_image(start, tools);
  return store_command(start, std::move(outside), image, is_rootless(start, tools));
}

std::optional<std::string> remove_container(const ContainerCommand& command,
                                            base::ProcessRunner& processes) {
  if (command.removal.empty() || command.id_file.empty()) return std::nullopt;
  const std::string text = base::read_file_if_exists(command.id_file).value_or("");
  std::string id = text.substr(0, text.find('\n'));
  if (id.empty() || id.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return std::nullopt;
  }
  base::Command removal;
  removal.argv = command.removal;
  removal.argv.push_back(id);
  removal.environment = command.environment;
  removal.deadline = std::chrono::minutes(2);
  try {
    const base::ProcessResult result = processes.run(removal);
    // For a removed container docker prints "No such container", podman 4 nothing.
    if (result.ok() || result.errors.find("o such container") != std::string::npos)
      return std::nullopt;
  } catch (const Error&) {
    return id;  // the engine is gone: the result of the command counts
  }
  return id;
}

}  // namespace sabath::env
