#pragma once

#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// A package of a channel. The file name has name, version and build, the folder is the platform:
/// "https://host/channel/linux-64/zlib-1.3.1-h4ab18f5_1.conda".
struct CondaPackage {
  std::string name{};
  std::string version{};
  std::string build{};
  std::string url{};
  std::optional<base::Digest> sha256{};
  std::optional<base::Digest> md5{};

  /// Returns "1.3.1=h4ab18f5_1", as conda writes it.
  std::string label() const { return version + "=" + build; }
  std::string file() const { return url.substr(url.rfind('/') + 1); }
  /// Returns "linux-64" or "noarch".
  std::string subdir() const;
};

/// Reads name, version and build from the end of `url`; nothing for other URLs.
std::optional<CondaPackage> conda_package_at(std::string_view url);

/// Returns the name of a platform in channels: "linux-64" for "linux-x86_64".
std::string conda_subdir(std::string_view platform);

/// Returns the URL of a local file or folder.
std::string file_url(const std::filesystem::path& path);

/// Removes logins: "user:word@" and "/t/TOKEN".
std::string without_login(std::string url);

/// Requirements of a conda layer, including those of its file.
struct CondaRequest {
  std::vector<std::string> specs{};
  std::vector<std::string> channels{};  ///< the first has the highest priority
  std::vector<CondaPackage> listed{};   ///< an explicit list; then nothing is resolved
  std::set<std::string> requested{};    ///< names
  /// sha256 of "sabath-conda/1\n" and a line for each; a lock names it as its request.
  base::Digest digest{};
};

/// Reads the requirements. Throws Error{not_found|usage} that names file and line.
CondaRequest read_conda_request(const LayerContext& context);

}  // namespace sabath::env
