#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// One file that a layer is made of.
struct LockedPackage {
  std::string name{};     ///< pip: normalised: lower case, single '-'; container: of the image
  std::string version{};  ///< source: the commit, empty for an archive; container: the tag
  std::string file{};     ///< its name: a wheel, a package of conda, an archive; never a URL
  base::Digest digest{};
  std::optional<std::string> build{};  ///< conda: "py311h64a7726_0"
  std::optional<std::string> url{};    ///< where it comes from; pip: the user's indexes know
  bool requested = false;              ///< by the recipe itself, not by another package

  bool operator==(const LockedPackage&) const = default;
  /// pip: must it be built here?
  bool is_source() const { return !file.ends_with(".whl"); }
};

/// What was resolved for one platform and one Python.
struct PlatformPackages {
  std::string platform{};                 ///< "linux-x86_64"; "any" for code
  std::string python{};                   ///< pip: "cp311"
  std::string resolver{};                 ///< "pip 23.2.1"
  std::vector<LockedPackage> packages{};  ///< sorted by name

  bool operator==(const PlatformPackages&) const = default;
};

/// One layer of a lock file.
struct PackageLayerLock {
  LayerKind kind = LayerKind::pip;
  std::string name{};
  base::Digest request{};  ///< of what the recipe asked for when it was locked
  std::vector<PlatformPackages> platforms{};

  bool operator==(const PackageLayerLock&) const = default;
  const PlatformPackages* find(std::string_view platform, std::string_view python) const;
};

/// environment.lock.json, which lies beside a recipe and under version control.
struct PackageLock {
  std::vector<PackageLayerLock> layers{};

  bool operator==(const PackageLock&) const = default;
  /// The answer to `request`, else any lock of a layer of that name: variants may share a name.
  const PackageLayerLock* find(std::string_view layer, const base::Digest& request) const;
  /// sha256 of the canonical JSON of the layers; stands in the file, so that an edit shows.
  base::Digest digest() const;
};

nlohmann::ordered_json to_json(const PackageLock& lock);
/// Throws Error{usage} with all problems; also where the file's digest is not that of its layers.
PackageLock parse_package_lock(std::string_view text, const std::string& origin);

/// "Foo_Bar.baz" -> "foo-bar-baz", as packages are compared (PEP 503).
std::string normal_package_name(std::string_view name);
/// The normalised name of what a requirement asks for ("numpy" of "NumPy[x]>=1.26; python<4");
/// nothing where it is not a name with versions: a URL, a path, an option.
std::optional<std::string> required_package(std::string_view requirement);

}  // namespace sabath::spec
