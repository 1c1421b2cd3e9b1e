#include "image_layout.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::create_hard_link(from, to, code);
  if (!code) return;
  fs::copy_file(from, to, code);
  if (code) base::throw_errno(to.string(), "cannot write", code.value());
}

void write(const fs::path& path, const std::string& text) {
  base::write_file_atomically(path, text, base::Durability::ordered_only);
}

fs::path blob_in(const fs::path& layout, const base::Digest& digest) {
  return layout / "blobs" / "sha256" / digest.hex;
}

}  // namespace

void write_layout(const fs::path& folder,
                  const base::Digest& manifest,
                  const std::map<base::Digest, fs::path>& blobs,
                  const std::string& place) {
  base::make_directories(folder / "blobs" / "sha256");
  for (const auto& [digest, path] : blobs)
    link_or_copy(path, blob_in(folder, digest));
  const ImageManifest image =
      read_image_manifest(base::read_file(blob_in(folder, manifest)), place);
  write(folder / "oci-layout", "{\"imageLayoutVersion\": \"1.0.0\"}\n");
  write(folder / "index.json", layout_index(image));
  write(folder / "manifest.json", docker_load_list(image));
}

std::vector<std::string> image_ids(const fs::path& layout, const std::string& place) {
  const auto index = read_image_index(base::read_file(layout / "index.json"), place);
  if (!index || index->size() != 1) {
    throw base::Error(base::ErrorKind::environment,
                      place + ": " + layout.string() + ": has not exactly one image");
  }
  const base::Digest& digest = index->front().digest;
  const std::string text = base::read_file(blob_in(layout, digest));
  return {read_image_manifest(text, place).config.text(), digest.text()};
}

}  // namespace sabath::env
