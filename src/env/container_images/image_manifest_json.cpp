#include "image_manifest.hpp"
#include "layers/layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <functional>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* oci_manifest = "application/vnd.oci.image.manifest.v1+json";

base::Digest digest_in(const json& descriptor) {
  const auto text = descriptor.at("digest").get<std::string>();
  const auto digest = base::parse_digest(text);
  if (!digest || !text.starts_with("sha256:")) {
    throw_environment("'" + text + "' is not a SHA-256");
  }
  return *digest;
}

ImagePlatform platform_in(const json& value) {
  return {value.value("architecture", ""), value.value("os", "linux")};
}

void read_parts(const json& value, ImageManifest& manifest) {
  manifest.config = digest_in(value.at("config"));
  for (const json& layer : value.at("layers"))
    manifest.layers.push_back(digest_in(layer));
}

/// Reads output of registries and tools. Every error in it gets the same message.
template <class Result>
Result reading(const std::string& text,
               const std::string& place,
               const std::function<Result(const json&)>& read) {
  try {
    return read(json::parse(text));
  } catch (const json::exception& error) {
    throw_environment(place + ": the image's manifest cannot be read: " + error.what());
  } catch (const base::Error& error) {
    throw_environment(place + ": the image's manifest cannot be read: " + error.what());
  }
}

DescribedImage described(const json& value) {
  const json& descriptor = value.at("Descriptor");
  DescribedImage image;
  image.platform = platform_in(descriptor.value("platform", json::object()));
  image.manifest.digest = digest_in(descriptor);
  image.manifest.media_type = descriptor.at("mediaType");
  image.manifest.size_bytes = descriptor.value("size", std::uint64_t{0});
  read_parts(value.contains("OCIManifest") ? value.at("OCIManifest") : value.at("SchemaV2Manifest"),
             image.manifest);
  return image;
}

std::string blob_path(const base::Digest& digest) {
  return "blobs/sha256/" + digest.hex;
}

/// Returns "index.json" of a layout with one image.
std::string layout_index(const ImageManifest& manifest) {
  const json image{{"mediaType", manifest.media_type},
                   {"digest", manifest.digest.text()},
                   {"size", manifest.size_bytes}};
  return json{{"schemaVersion", 2}, {"manifests", json::array({image})}}.dump() + "\n";
}

/// Returns "manifest.json" of it, which Docker loads.
std::string docker_load_list(const ImageManifest& manifest) {
  json layers = json::array();
  for (const base::Digest& layer : manifest.layers)
    layers.push_back(blob_path(layer));
  const json image{
      {"Config", blob_path(manifest.config)}, {"RepoTags", nullptr}, {"Layers", layers}};
  return json::array({image}).dump() + "\n";
}

void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::create_hard_link(from, to, code);
  if (!code) return;
  fs::copy_file(from, to, code);
  if (code) base::throw_errno(to.string(), "cannot write", code.value());
}

void write_text(const fs::path& path, const std::string& text) {
  base::write_file_atomically(path, text, base::Durability::ordered_only);
}

}  // namespace

ImagePlatform image_platform(const std::string& platform) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> names{
      {{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"i686", "386"}, {"armv7l", "arm"}}};
  std::string machine = platform.substr(platform.find('-') + 1);
  for (const auto& [ours, theirs] : names) {
    if (machine == ours) return {std::string(theirs)};
  }
  return {std::move(machine)};
}

std::optional<std::vector<IndexedImage>> read_image_index(const std::string& text,
                                                          const std::string& place) {
  using Images = std::optional<std::vector<IndexedImage>>;
  return reading<Images>(text, place, [](const json& value) -> Images {
    if (!value.contains("manifests")) return std::nullopt;
    std::vector<IndexedImage> images;
    for (const json& one : value.at("manifests"))
      images.push_back({digest_in(one), platform_in(one.value("platform", json::object()))});
    return images;
  });
}

ImageManifest read_image_manifest(const std::string& text, const std::string& place) {
  return reading<ImageManifest>(text, place, [&](const json& value) {
    ImageManifest manifest;
    manifest.digest = base::sha256_of(text);
    manifest.media_type = value.value("mediaType", oci_manifest);
    manifest.size_bytes = text.size();
    read_parts(value, manifest);
    return manifest;
  });
}

ImagePlatform read_image_platform(const std::string& text, const std::string& place) {
  return reading<ImagePlatform>(text, place, platform_in);
}

std::vector<DescribedImage> read_docker_manifests(const std::string& text,
                                                  const std::string& place) {
  using Images = std::vector<DescribedImage>;
  return reading<Images>(text, place, [](const json& value) {
    Images images;
    if (value.is_object()) return Images{described(value)};
    for (const json& one : value)
      images.push_back(described(one));
    return images;
  });
}

void write_layout(const fs::path& folder,
                  const base::Digest& manifest,
                  const std::map<base::Digest, fs::path>& blobs,
                  const std::string& place) {
  base::make_directories(folder / "blobs" / "sha256");
  for (const auto& [digest, path] : blobs)
    link_or_copy(path, folder / blob_path(digest));
  const ImageManifest image =
      read_image_manifest(base::read_file(folder / blob_path(manifest)), place);
  write_text(folder / "oci-layout", "{\"imageLayoutVersion\": \"1.0.0\"}\n");
  write_text(folder / "index.json", layout_index(image));
  write_text(folder / "manifest.json", docker_load_list(image));
}

std::vector<std::string> image_ids(const fs::path& layout, const std::string& place) {
  const auto index = read_image_index(base::read_file(layout / "index.json"), place);
  if (!index || index->size() != 1) {
    throw_environment(place + ": " + layout.string() + ": has not exactly one image");
  }
  const base::Digest& digest = index->front().digest;
  const std::string text = base::read_file(layout / blob_path(digest));
  return {read_image_manifest(text, place).config.text(), digest.text()};
}

}  // namespace sabath::env
