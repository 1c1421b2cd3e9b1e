#include "certificates.hpp"

#include <curl/curl.h>

#include <unistd.h>

namespace sabath::fetch {
namespace {

bool is_readable(const std::string& file) {
  return !file.empty() && ::access(file.c_str(), R_OK) == 0;
}

}  // namespace

std::string certificates_beside(std::string_view own, const std::vector<std::string>& files) {
  if (is_readable(std::string(own))) return "";
  for (const std::string& file : files)
    if (is_readable(file)) return file;
  return "";
}

std::string other_certificates() {
  const curl_version_info_data* const built = ::curl_version_info(CURLVERSION_NOW);
  const bool is_known = built->age >= CURLVERSION_SEVENTH && built->cainfo != nullptr;
  // Without a file it was built for a folder, or for a store of its own.
  if (!is_known) return "";
  return certificates_beside(built->cainfo,
                             {"/etc/ssl/certs/ca-certificates.crt",  // Debian, Arch, Gentoo
                              "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL and its like
                              "/etc/ssl/ca-bundle.pem",              // SUSE
                              "/var/lib/ca-certificates/ca-bundle.pem",
                              "/etc/ssl/cert.pem"});  // Alpine
}

}  // namespace sabath::fetch
