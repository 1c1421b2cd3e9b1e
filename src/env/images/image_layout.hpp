#pragma once

#include "image_manifest.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::env {

/// Makes an OCI layout of the blobs of one image, which Docker can load, too. `blobs` has the path
/// of each by its digest. They are linked where `folder` is on their file system, else copied.
/// Throws Error{environment|storage}.
void write_layout(const std::filesystem::path& folder,
                  const base::Digest& manifest,
                  const std::map<base::Digest, std::filesystem::path>& blobs,
                  const std::string& place);

/// What engines may call the image of a layout: the digest of its configuration, that of its
/// manifest. Throws Error{environment} for a layout that is damaged.
std::vector<std::string> image_ids(const std::filesystem::path& layout, const std::string& place);

}  // namespace sabath::env
