#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

/// Returns the first of `files` that is readable, or "" where `own` is readable or none is.
std::string certificates_beside(std::string_view own, const std::vector<std::string>& files);

/// The file of certificates that this system trusts, where it is not the file that libcurl was
/// built for: a program that was built elsewhere runs here. Returns "" where libcurl's is there.
std::string other_certificates();

}  // namespace sabath::fetch
