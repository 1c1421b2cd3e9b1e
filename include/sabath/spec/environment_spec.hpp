#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/loaded_modules.hpp>

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {
class JsonReader;
}

namespace sabath::spec {

enum class LayerKind { host, modules, source, pip };
std::string_view to_string(LayerKind kind);

/// What a pip layer is asked for.
struct PackageRequest {
  std::string python{};                          ///< "3.11", a path, or empty: the first python3
  std::vector<std::string> requirements{};       ///< as pip reads them: "numpy>=1.26,<2"
  std::vector<std::string> requirement_files{};  ///< {recipe}/FILE, with one on each line
  std::vector<std::string> constraints{};        ///< versions of what others ask for
  std::vector<std::string> constraint_files{};
  /// Packages that are built here from their source, which runs their code. All others are wheels.
  std::vector<std::string> from_source{};
  /// What must be importable; empty: what the requested packages bring.
  std::vector<std::string> imports{};
  /// Shared libraries that may be missing: parts of packages that nobody uses here.
  std::vector<std::string> optional_libraries{};

  bool operator==(const PackageRequest&) const = default;
};

/// One layer as it is asked for. Layers are built in order and each sees the ones before.
struct LayerSpec {
  LayerKind kind = LayerKind::host;
  std::string name{};                   ///< for {env.NAME}; the kind where the document gives none
  std::vector<std::string> commands{};  ///< programs that must be there: on PATH; pip: in its bin
  std::string path{};                   ///< source: folder with the code: {recipe} or beneath it
  std::string build{};                  ///< source: "cmake" or "make"
  std::map<std::string, std::string> options{};  ///< source: cmake cache entries, or make variables
  std::vector<std::string>
      languages{};  ///< source: of "c", "c++", "fortran": whose compilers are part of the key
  std::vector<std::string> modules{};  ///< modules: loaded in this order
  std::vector<std::string> use{};      ///< modules: more folders with modulefiles
  PackageRequest packages{};           ///< pip
  std::map<std::string, std::string>
      variables{};  ///< set for what runs in it; $NAME refers to earlier ones

  bool operator==(const LayerSpec&) const = default;
};

struct EnvironmentSpec {
  std::vector<LayerSpec> layers{};

  bool operator==(const EnvironmentSpec&) const = default;
};

/// One layer as it was resolved: `facts` is the preimage of `key`, so that a difference can be told
/// in words.
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

/// A layer that is ready to be used.
struct BuiltLayer {
  LayerLock lock{};
  std::string prefix{};  ///< absolute path; empty where the layer has none
  std::map<std::string, std::string> variables{};
  std::optional<LoadedModules> modules{};
  /// pip: the file that names its packages, and name -> version of those that were found in the
  /// prefix when somebody last looked.
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
  /// Key of the last layer (which depends on all before): the identity of the whole. Empty hex
  /// without layers.
  base::Digest key() const;
  /// Prefix of the last layer that has one, or of the layer called `name`; nothing when there is
  /// none.
  std::optional<std::string> prefix(std::string_view name = {}) const;
};

/// In words what makes two environments (or two recipes' locks) differ; empty where nothing does.
std::vector<std::string> differences(const EnvironmentLock& one, const EnvironmentLock& other);

EnvironmentSpec read_environment_spec(base::JsonReader reader);
nlohmann::ordered_json to_json(const EnvironmentSpec& spec);
nlohmann::ordered_json to_json(const EnvironmentLock& lock);
EnvironmentLock parse_environment_lock(std::string_view text, const std::string& origin);
nlohmann::ordered_json to_json(const BuiltEnvironment& environment);
BuiltEnvironment read_built_environment(base::JsonReader reader);

}  // namespace sabath::spec
