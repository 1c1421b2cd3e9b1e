#include <sabath/spec/asset.hpp>

namespace sabath::spec {

bool is_archive(const AssetFile& file) {
  return file.unpack == "tar" || file.unpack == "zip";
}

std::string unpacked_path(const AssetFile& file) {
  if (is_archive(file)) {
    const auto slash = file.path.rfind('/');
    return slash == std::string::npos ? std::string() : file.path.substr(0, slash);
  }
  const std::string suffix = "." + file.unpack;
  const bool has_suffix = !file.unpack.empty() && file.path.ends_with(suffix);
  const std::string path = file.path.substr(0, file.path.size() - (has_suffix ? suffix.size() : 0));
  return path.empty() || path.ends_with('/') ? file.path : path;
}

}  // namespace sabath::spec
