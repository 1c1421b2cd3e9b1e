#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/enum_words.hpp>
#include <sabath/spec/loaded_modules.hpp>

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {
class JsonReader;
}

namespace sabath::spec {

enum class LayerKind { host, modules, source, pip, conda, container };
constexpr auto words_of(LayerKind) {
  return std::to_array<std::string_view>(
      {"host", "modules", "source", "pip", "conda", "container"});
}
/// Is something built for layers of this kind that paths can lead to?
bool has_prefix(LayerKind kind);

/// Code that a source layer fetches. Nothing set: it lies in the recipe.
struct CodeOrigin {
  std::string git{};                     ///< URL of a repository
  std::string ref{};                     ///< of it: a commit, tag or branch
  std::string archive{};                 ///< URL of an archive, instead
  std::optional<base::Digest> digest{};  ///< of the archive; without it what `env lock` found

  bool operator==(const CodeOrigin&) const = default;
  bool is_set() const { return !git.empty() || !archive.empty(); }
};

/// The packages that a pip or conda layer is asked for.
struct PackageRequest {
  std::string python{};                     ///< pip: "3.11", a path, or empty: the first python3
  std::vector<std::string> requirements{};  ///< pip: "numpy>=1.26,<2"; conda: "numpy=1.26"
  std::vector<std::string> requirement_files{};  ///< {recipe}/FILE, with one on each line
  std::vector<std::string> constraints{};        ///< versions of what others ask for
  std::vector<std::string> constraint_files{};
  /// Packages that are built here from their source, which runs their code. All others are wheels.
  std::vector<std::string> from_source{};
  /// What must be importable; empty: what the requested packages bring.
  std::vector<std::string> imports{};
  /// Shared libraries that may be missing: parts of packages that nobody uses here.
  std::vector<std::string> optional_libraries{};
  std::vector<std::string> channels{};  ///< conda: names, URLs or {recipe}/FOLDER, the first wins
  std::string explicit_file{};          ///< conda: {recipe}/FILE, an @EXPLICIT list, instead

  bool operator==(const PackageRequest&) const = default;
};

/// The image that a container layer is asked for.
struct ContainerRequest {
  std::string image{};                 ///< "docker.io/library/python:3.11-slim"
  std::vector<std::string> engines{};  ///< those that will do, the best first; empty: all
  std::vector<std::string> binds{};    ///< HOST[:CONTAINER[:ro]], absolute paths
  bool gpus = false;                   ///< pass the GPUs through where the host has some

  bool operator==(const ContainerRequest&) const = default;
};

/// The request for one layer. Layers are built in order and each sees the ones before.
struct LayerSpec {
  LayerKind kind = LayerKind::host;
  std::string name{};                   ///< for {env.NAME}; the kind where the document gives none
  std::vector<std::string> variants{};  ///< in which it takes part; empty: in all
  std::vector<std::string> commands{};  ///< programs that must be there: host: on PATH; pip and
                                        ///< conda: in its bin
  std::string path{};   ///< source: folder with the code: {recipe} or beneath it; of fetched
                        ///< code a folder in it, or empty
  CodeOrigin origin{};  ///< source
  std::vector<std::string> patches{};  ///< source: {recipe}/FILE, applied in this order
  std::string build{};                 ///< source: "cmake", "make", "autotools" or "steps"
  std::map<std::string, std::string> options{};  ///< source: cmake cache entries, make variables,
                                                 ///< options of configure without their "--"
  std::vector<std::vector<std::string>>
      steps{};  ///< source: commands, with {prefix} {source} {jobs}
  std::vector<std::string>
      languages{};  ///< source: of "c", "c++", "fortran": whose compilers are part of the key
  std::vector<std::string> modules{};  ///< modules: loaded in this order
  std::vector<std::string> use{};      ///< modules: more folders with modulefiles
  PackageRequest packages{};           ///< pip, conda
  ContainerRequest container{};        ///< container
  std::map<std::string, std::string>
      variables{};  ///< set for what runs in it; $NAME refers to earlier ones

  bool operator==(const LayerSpec&) const = default;
};

struct EnvironmentSpec {
  std::vector<std::string>
      variants{};  ///< "cpu", "gpu": one is chosen, the first where nobody does
  std::vector<LayerSpec> layers{};
  /// What the stages of each variant set, "" for those that have the run's: not in the document of
  /// an environment, see `known_stage_variables`. Packages are checked with them.
  std::map<std::string, std::map<std::string, std::string>> stage_variables{};
  /// Folder of the lock, in no document; empty: the recipe's.
  std::filesystem::path lock_folder{};

  bool operator==(const EnvironmentSpec&) const = default;
  /// The layers of one variant and no variants; the first one's where `variant` is empty. What its
  /// stages set goes before what those set that have the run's variant. Throws Error{usage} for a
  /// variant that is not declared, with those that are.
  EnvironmentSpec select(const std::string& variant) const;
  /// The same with the lock of a folder, unless it has that of another.
  EnvironmentSpec locked_in(const std::filesystem::path& folder) const;
};

/// One layer as it was resolved: `facts` is the preimage of `key`, and explains a
/// difference.
struct LayerLock {
  LayerKind kind = LayerKind::host;
  std::string name{};
  std::map<std::string, std::string>
      facts{};  ///< e.g. "source.tree" -> "sha256:...", "cxx" -> "g++ 12.2.0 x86_64-linux-gnu"
  base::Digest key{};

  bool operator==(const LayerLock&) const = default;
};

struct EnvironmentLock {
  std::vector<LayerLock> layers{};

  bool operator==(const EnvironmentLock&) const = default;
  /// Digest of the whole lock: of the canonical JSON of its layers.
  base::Digest digest() const;
};

/// How programs are started in a container layer that is ready.
struct ContainerImage {
  std::string engine{};   ///< "apptainer", "singularity", "podman" or "docker"
  std::string program{};  ///< the engine's absolute path
  std::string image{};    ///< as the engine finds it here: a file, or the folder of an OCI layout
  bool gpus = false;
  std::vector<std::string> binds{};

  bool operator==(const ContainerImage&) const = default;
};

/// A layer that is ready to be used.
struct BuiltLayer {
  LayerLock lock{};
  std::string prefix{};  ///< absolute path; empty where the layer has none
  std::map<std::string, std::string> variables{};
  std::optional<LoadedModules> modules{};
  std::optional<ContainerImage> container{};
  /// pip, conda: the file that names its packages, and name -> version of those that were found in
  /// the prefix when somebody last looked.
  std::optional<base::Digest> lock_file{};
  std::optional<std::map<std::string, std::string>> packages{};

  bool operator==(const BuiltLayer&) const = default;
  /// In words: where the packages that are present are not those that were locked.
  std::vector<std::string> drift() const;
};

/// An environment that is ready: what a plan refers to.
struct BuiltEnvironment {
  std::vector<BuiltLayer> layers{};

  bool operator==(const BuiltEnvironment&) const = default;
  EnvironmentLock lock() const;
  /// Digests of the lock files, by layer.
  std::vector<std::optional<base::Digest>> lock_files() const;
  /// Key of the last layer (which depends on all before): the identity of the whole. Empty hex
  /// without layers.
  base::Digest key() const;
  /// Prefix of the last layer that has one, or of the layer called `name`; nothing when there is
  /// none.
  std::optional<std::string> prefix(std::string_view name = {}) const;
};

/// In words what makes two environments (or two recipes' locks) differ; empty where nothing does.
std::vector<std::string> differences(const EnvironmentLock& one, const EnvironmentLock& other);

/// Says in words how the environments of two runs, A and B, differ. Reads the items of their
/// facets. Names packages that were added, removed or changed, other facts, variables, and layers
/// that only one has. Keys follow from these, so they are listed only where nothing else differs.
/// Of variables only those that do not follow from a key are listed. Empty where nothing differs.
std::vector<std::string> environment_differences(const std::map<std::string, std::string>& a,
                                                 const std::map<std::string, std::string>& b);

/// What BuiltLayer::drift tells, as facts of the layer: "drift.numpy" -> "1.0 was locked, 2.0 is
/// present".
std::map<std::string, std::string> drift_facts(const std::vector<std::string>& drift);

EnvironmentSpec read_environment_spec(base::JsonReader reader);
nlohmann::ordered_json to_json(const EnvironmentSpec& spec);
nlohmann::ordered_json to_json(const EnvironmentLock& lock);
EnvironmentLock parse_environment_lock(std::string_view text, const std::string& origin);
nlohmann::ordered_json to_json(const BuiltEnvironment& environment);
BuiltEnvironment read_built_environment(base::JsonReader reader);

}  // namespace sabath::spec
