#pragma once

#include "image_manifest.hpp"
#include "image_reference.hpp"
#include "image_tools.hpp"

#include <filesystem>
#include <string>

namespace sabath::env {

/// What a reference means for one platform now.
struct ResolvedImage {
  ImageManifest manifest{};
  std::string tool{};  ///< which said so: "skopeo" or "docker"
};

/// Asks the registry with skopeo, else with docker, since podman does not tell what an image
/// consists of. Throws Error{environment} where neither is found, or no image for the platform; and
/// as ImageTools::fail.
ResolvedImage resolve_image(const ImageReference& image,
                            const ImagePlatform& platform,
                            const ImageTools& tools);

/// Brings all blobs of the image, each under its hexadecimal digest; the manifest too. Only skopeo
/// gives them as they are. Throws Error{environment} where it is not found; and as
/// ImageTools::fail.
void download_image(const ImageReference& image,
                    const base::Digest& digest,
                    const std::filesystem::path& folder,
                    const ImageTools& tools);

}  // namespace sabath::env
