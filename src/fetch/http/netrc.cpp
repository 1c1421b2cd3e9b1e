#include "netrc.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace sabath::fetch {

namespace {

/// Without port and brackets.
std::string bare(std::string host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  host = host.substr(0, host.find(':'));
  if (host.ends_with('.')) host.pop_back();
  return host;
}

/// libcurl looks for the name in its own form where it is not of ASCII.
bool is_ascii(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; });
}

bool look_for(const std::string& host) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0' || !is_ascii(host)) return true;
  try {
    const auto text = base::read_file_if_exists(std::filesystem::path(home) / ".netrc");
    if (!text) return false;
    const std::string lower = base::lower_case(*text);
    return lower.find(base::lower_case(bare(host))) != std::string::npos ||
           lower.find("default") != std::string::npos || lower.find('\\') != std::string::npos;
  } catch (const base::Error&) {
    return true;  // libcurl may read what we do not, such as a pipe
  }
}

}  // namespace

bool Netrc::may_name(const std::string& host) {
  if (host_.empty() || host != host_) {
    may_name_ = look_for(host);
    host_ = host;
  }
  return may_name_;
}

}  // namespace sabath::fetch
