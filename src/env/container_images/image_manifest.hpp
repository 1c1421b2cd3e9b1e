#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::env {

/// Platform of an image: "linux/arm64".
struct ImagePlatform {
  std::string architecture{};  ///< "amd64", "arm64"
  std::string os = "linux";

  bool operator==(const ImagePlatform&) const = default;
  std::string text() const { return os + "/" + architecture; }
};

/// Returns the image platform of "linux-x86_64". Unknown architectures keep their name.
ImagePlatform image_platform(const std::string& platform);

/// Manifest of an image for one platform.
struct ImageManifest {
  base::Digest digest{};     ///< of the manifest; identifies the image
  std::string media_type{};  ///< of the manifest
  std::uint64_t size_bytes = 0;
  base::Digest config{};  ///< the image ID of engines
  std::vector<base::Digest> layers{};
};

/// One manifest of an index.
struct IndexedImage {
  base::Digest digest{};
  ImagePlatform platform{};
};

/// Reads the images of an index ("multi-arch"); nothing for the manifest of one image. All these
/// readers throw Error{environment}; `place` begins the message.
std::optional<std::vector<IndexedImage>> read_image_index(const std::string& text,
                                                          const std::string& place);
ImageManifest read_image_manifest(const std::string& text, const std::string& place);
/// Reads the platform from the configuration of an image.
ImagePlatform read_image_platform(const std::string& text, const std::string& place);
/// One image of `docker manifest inspect --verbose`, which lists all platforms.
struct DescribedImage {
  ImagePlatform platform{};
  ImageManifest manifest{};
};
std::vector<DescribedImage> read_docker_manifests(const std::string& text,
                                                  const std::string& place);

/// Makes an OCI layout from the blobs of one image; Docker can load it, too. `blobs` maps digests
/// to paths. Links the blobs, or copies them from another file system. Throws
/// Error{environment|storage}.
void write_layout(const std::filesystem::path& folder,
                  const base::Digest& manifest,
                  const std::map<base::Digest, std::filesystem::path>& blobs,
                  const std::string& place);

/// Returns the names of an image for engines: the digests of its configuration and of its manifest.
/// Throws Error{environment} for a damaged layout.
std::vector<std::string> image_ids(const std::filesystem::path& layout, const std::string& place);

}  // namespace sabath::env
