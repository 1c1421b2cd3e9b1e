#pragma once

#include "documents/fields_json.hpp"

#include <sabath/spec/package_lock.hpp>

#include <vector>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, LockedPackage> package) {
  io("name", package.name, "of the package; pip: normalised");
  io("version", package.version, "source: the commit, empty for an archive; container: the tag");
  io("file", package.file, "its name, never a URL");
  io("digest", package.digest);
  io("build", package.build, "conda: py311h64a7726_0");
  io("url", package.url, "where the file comes from; pip: the user's indexes know");
  io("requested", package.requested, "by the recipe itself, not by another package");
}

template <class Io>
void describe(Io& io, FieldRef<Io, PlatformPackages> packages) {
  io("platform", packages.platform, "linux-x86_64; any for code");
  io("python", packages.python, "pip: cp311, as in names of wheels; else empty");
  io("resolver", packages.resolver, "what resolved it");
  io("packages", packages.packages);
}

template <class Io>
void describe(Io& io, FieldRef<Io, PackageLayerLock> layer) {
  SABATH_FIELDS(io, layer, kind, name);
  io("request", layer.request, "of what the recipe asked for when it was locked");
  io("platforms", layer.platforms);
}

/// environment.lock.json.
struct SealedLock {
  std::vector<PackageLayerLock> layers{};
  std::string digest{};
};

template <class Io>
void describe(Io& io, FieldRef<Io, SealedLock> lock) {
  io("layers", lock.layers);
  io("digest", lock.digest, "of the canonical JSON of the layers: an edit shows");
}

}  // namespace sabath::spec
