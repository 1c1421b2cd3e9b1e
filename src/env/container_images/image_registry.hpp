#pragma once

#include "image_manifest.hpp"
#include "image_tools.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::env {

/// Reference to an image of a registry, as `docker pull` reads it.
struct ImageReference {
  std::string name{};  ///< "docker.io/library/python"
  std::string tag{};   ///< "3.12-slim"; empty where the digest alone names it
  std::optional<base::Digest> digest{};

  /// Returns the reference for registries: by digest where there is one.
  std::string text() const;
  /// Returns "docker.io/library/python@sha256:...".
  std::string pinned(const base::Digest& to) const { return name + "@" + to.text(); }
  std::string registry() const { return name.substr(0, name.find('/')); }
};

/// Reads "python:3.12" or "ghcr.io/team/code@sha256:...", with or without "docker://". Throws
/// Error{usage} for other texts; `place` begins the message.
ImageReference parse_image(const std::string& text, const std::string& place);

/// Image that a reference names for one platform now.
struct ResolvedImage {
  ImageManifest manifest{};
  std::string tool{};  ///< program that was asked: "skopeo" or "docker"
};

/// Asks the registry with skopeo, else with docker; podman does not list the parts of an image.
/// Throws Error{environment} without these programs or without an image for the platform; and as
/// ImageTools::fail.
ResolvedImage resolve_image(const ImageReference& image,
                            const ImagePlatform& platform,
                            const ImageTools& tools);

/// Downloads all blobs and the manifest of the image, each under its hexadecimal digest. Needs
/// skopeo: other programs change the blobs. Throws Error{environment} without it; and as
/// ImageTools::fail.
void download_image(const ImageReference& image,
                    const base::Digest& digest,
                    const std::filesystem::path& folder,
                    const ImageTools& tools);

}  // namespace sabath::env
