#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// One file that is installed.
struct LockedPackage {
  std::string name{};  ///< normalised: lower case, single '-'
  std::string version{};
  std::string file{};  ///< name of the wheel, or of the source distribution; never a URL
  base::Digest digest{};
  bool requested = false;  ///< by the recipe itself, not by another package

  bool operator==(const LockedPackage&) const = default;
  bool is_source() const { return !file.ends_with(".whl"); }
};

/// What was resolved for one platform and one Python.
struct PlatformPackages {
  std::string platform{};                 ///< "linux-x86_64"
  std::string python{};                   ///< "cp311"
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
  const PackageLayerLock* find(std::string_view layer) const;
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
