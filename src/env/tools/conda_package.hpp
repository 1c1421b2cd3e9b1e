#pragma once

#include <sabath/base/digest.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace sabath::env {

/// A package of a channel. Name, version and build are in the name of its file, the platform is the
/// folder that it lies in: "https://host/channel/linux-64/zlib-1.3.1-h4ab18f5_1.conda".
struct CondaPackage {
  std::string name{};
  std::string version{};
  std::string build{};
  std::string url{};
  std::optional<base::Digest> sha256{};
  std::optional<base::Digest> md5{};

  /// As conda spells it: "1.3.1=h4ab18f5_1".
  std::string label() const { return version + "=" + build; }
  std::string file() const { return url.substr(url.rfind('/') + 1); }
  /// "linux-64", "noarch".
  std::string subdir() const;
};

/// Name, version and build out of the end of `url`; nothing where it is no package's.
std::optional<CondaPackage> conda_package_at(std::string_view url);

/// "linux-64" for "linux-x86_64": what channels call a platform.
std::string conda_subdir(std::string_view platform);
/// The platform of this machine: "linux-x86_64".
std::string platform_here();

/// A path as it stands in an address.
std::string percent_encoded(const std::string& path);

/// Without logins: neither "user:word@" nor "/t/TOKEN".
std::string without_login(std::string url);

}  // namespace sabath::env
