#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::env {

/// "linux/arm64", as images name what they run on.
struct ImagePlatform {
  std::string architecture{};  ///< "amd64", "arm64"
  std::string os = "linux";

  bool operator==(const ImagePlatform&) const = default;
  std::string text() const { return os + "/" + architecture; }
};

/// That of "linux-x86_64"; the architecture is taken as it is where the two names are the same.
ImagePlatform image_platform(const std::string& platform);

/// What an image for one platform consists of; all blobs have the digests that they are asked for.
struct ImageManifest {
  base::Digest digest{};     ///< of the manifest itself: the identity of the image
  std::string media_type{};  ///< of the manifest
  std::uint64_t size_bytes = 0;
  base::Digest config{};  ///< what engines call the image's ID
  std::vector<base::Digest> layers{};
};

/// One manifest of an index.
struct IndexedImage {
  base::Digest digest{};
  ImagePlatform platform{};
};

/// The images of an index ("multi-arch"); nothing where `text` is the manifest of one image. All
/// of these throw Error{environment} for what cannot be read; `place` begins the message.
std::optional<std::vector<IndexedImage>> read_image_index(const std::string& text,
                                                          const std::string& place);
ImageManifest read_image_manifest(const std::string& text, const std::string& place);
/// What the configuration of an image says that it runs on.
ImagePlatform read_image_platform(const std::string& text, const std::string& place);
/// The same out of `docker manifest inspect --verbose`, which has all platforms at once.
struct DescribedImage {
  ImagePlatform platform{};
  ImageManifest manifest{};
};
std::vector<DescribedImage> read_docker_manifests(const std::string& text,
                                                  const std::string& place);

/// "index.json" of a layout with one image, and "manifest.json", by which Docker loads it.
std::string layout_index(const ImageManifest& manifest);
std::string docker_load_list(const ImageManifest& manifest);

}  // namespace sabath::env
