#include "tool_url.hpp"

#include "source_url.hpp"

#include <algorithm>

namespace sabath::fetch {

namespace {

bool has_control(const std::string& text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace

std::string ToolUrl::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port.empty() ? name : name + ":" + port;
}

std::variant<ToolUrl, Failure> parse_tool_url(const std::string& url) {
  // libcurl corrects an empty host, except in "file", and removes a slash.
  constexpr std::string_view local_git = "git+file:";
  const bool is_local_git = url.starts_with(local_git);
  auto parsed = parse_source_url(is_local_git ? url.substr(4) : url);
  if (auto* failure = std::get_if<Failure>(&parsed)) return std::move(*failure);
  const auto& source = std::get<SourceUrl>(parsed);
  CURLU* const handle = source.handle.get();
  ToolUrl parts;
  parts.scheme = source.scheme;
  parts.user = url_part(handle, CURLUPART_USER, CURLU_URLDECODE);
  parts.password = url_part(handle, CURLUPART_PASSWORD, CURLU_URLDECODE);
  parts.host = url_part(handle, CURLUPART_HOST);
  if (parts.host.starts_with('[') && parts.host.ends_with(']')) {
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  }
  parts.port = url_part(handle, CURLUPART_PORT);
  parts.path = source.path;
  parts.query = url_part(handle, CURLUPART_QUERY);
  parts.plain = source.plain;
  parts.displayed = source.displayed;
  if (is_local_git) {
    for (std::string* text : {&parts.scheme, &parts.plain, &parts.displayed})
      text->insert(0, "git+");
  }
  // libcurl refuses to decode a NUL or a newline: then the path is empty.
  const bool lost = parts.path.empty() && !url_part(handle, CURLUPART_PATH).empty();
  if (lost || has_control(parts.path) || has_control(parts.user) || has_control(parts.host)) {
    return Failure{.problem = "malformed URL: it holds control characters"};
  }
  if (parts.user.starts_with('-') || parts.host.starts_with('-')) {
    return Failure{.problem = "malformed URL: a host or a user may not begin with '-'"};
  }
  return parts;
}

std::string encoded_path(const std::string& path) {
  return percent_encoded(path, "/-._~");
}

}  // namespace sabath::fetch
