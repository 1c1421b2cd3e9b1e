#include "layers/layer_variables.hpp"
#include "pip.hpp"

#include <sabath/base/text/codes.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sabath::env {
namespace {

using nlohmann::json;

std::string path_of(const std::string& url) {
  return base::percent_decoded(url.substr(0, url.find_first_of("?#")));
}

base::Digest digest_of(const json& archive, const std::string& url, const std::string& place) {
  if (archive.contains("hashes") && archive["hashes"].contains("sha256")) {
    const auto digest = base::parse_digest(base::DigestAlgorithm::sha256,
                                           archive["hashes"]["sha256"].get<std::string>());
    if (digest) return *digest;
  }
  constexpr std::string_view local = "file://";
  if (url.starts_with(local)) return base::digest_file(path_of(url).substr(local.size()));
  throw_environment(place + ": the index gives no SHA-256 of " + path_of(url),
                    "a lock needs digests: use an index that has them");
}

spec::LockedPackage package_of(const json& item, const std::string& place) {
  const json& info = item.at("download_info");
  const std::string url = info.at("url");
  spec::LockedPackage package;
  package.name = spec::normal_package_name(item.at("metadata").at("name").get<std::string>());
  package.version = item.at("metadata").at("version");
  package.requested = item.value("requested", false);
  if (item.value("is_direct", false) || !info.contains("archive_info")) {
    throw_environment(place + ": " + package.name + " comes from a URL or a folder",
                      "only packages of an index have versions and digests that last");
  }
  const std::string path = path_of(url);
  package.file = path.substr(path.rfind('/') + 1);
  package.digest = digest_of(info.at("archive_info"), url, place);
  return package;
}

}  // namespace

std::vector<spec::LockedPackage> read_pip_report(const std::string& text,
                                                 const std::string& place) {
  std::vector<spec::LockedPackage> packages;
  try {
    const json report = json::parse(text);
    for (const json& item : report.at("install"))
      packages.push_back(package_of(item, place));
  } catch (const json::exception& error) {
    throw_environment(place + ": pip's report cannot be read: " + error.what());
  }
  std::ranges::sort(packages, {}, &spec::LockedPackage::name);
  return packages;
}

}  // namespace sabath::env
