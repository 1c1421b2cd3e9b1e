#include "conda_package.hpp"

#include <sabath/base/text/regex.hpp>

#include <algorithm>

#include <sys/utsname.h>

namespace sabath::env {

std::string CondaPackage::subdir() const {
  const auto file = url.rfind('/');
  if (file == std::string::npos || file == 0) return {};
  const auto folder = url.rfind('/', file - 1);
  return folder == std::string::npos ? std::string() : url.substr(folder + 1, file - folder - 1);
}

std::optional<CondaPackage> conda_package_at(std::string_view url) {
  // Names and builds have no '-' that could be mistaken: the last two are those before version and
  // build.
  static const base::Form form(
      "(?:https?|file)://[^\\s#?]+/(?:noarch|[a-z]+-[a-z0-9_]+)/"
      "([a-z0-9_][a-z0-9_.+-]*)-([A-Za-z0-9_.+!]+)-([A-Za-z0-9_.+]+)\\.(?:conda|tar\\.bz2)");
  const auto parts = form.parts(url);
  if (!parts) return std::nullopt;
  return CondaPackage{parts->at(1), parts->at(2), parts->at(3), std::string(url), {}, {}};
}

std::string conda_subdir(std::string_view platform) {
  if (platform == "linux-x86_64") return "linux-64";
  if (platform == "linux-i686") return "linux-32";
  return std::string(platform);
}

std::string platform_here() {
  struct utsname names {};
  return ::uname(&names) == 0 ? "linux-" + std::string(names.machine) : "linux-unknown";
}

std::string percent_encoded(const std::string& path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte > ' ' && byte < 0x7f &&
                          std::string_view("\"#%<>?[]").find(c) == std::string_view::npos;
    if (is_plain) {
      text += c;
    } else {
      text += {'%', digits[byte >> 4U], digits[byte & 15U]};
    }
  }
  return text;
}

std::string without_login(std::string url) {
  const auto scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const auto host = scheme + 3;
  const auto path = std::min(url.find('/', host), url.size());
  const auto at = url.rfind('@', path);
  if (at != std::string::npos && at >= host) url.erase(host, at + 1 - host);
  const auto token = url.find("/t/", host);
  if (token != std::string::npos) {
    const auto end = std::min(url.find('/', token + 3), url.size());
    url.erase(token, end - token);
  }
  return url;
}

}  // namespace sabath::env
