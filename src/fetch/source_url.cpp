#include "source_url.hpp"

#include <sabath/base/text/private_address.hpp>

#include <cctype>

namespace sabath::fetch {

namespace {

std::string without(CURLU* url, std::initializer_list<CURLUPart> parts) {
  const CurlUrl copy(curl_url_dup(url));
  for (const CURLUPart part : parts)
    curl_url_set(copy.get(), part, nullptr, 0);
  return url_part(copy.get(), CURLUPART_URL);
}

/// What messages show.
std::string displayed_form(CURLU* url) {
  return without(
      url,
      {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_QUERY, CURLUPART_FRAGMENT});
}

}  // namespace

std::string url_part(CURLU* url, CURLUPart part, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owned(text, curl_free);
  return text;
}

std::string scheme_of(std::string_view url) {
  std::string scheme;
  for (const char raw : url.substr(0, url.find(':'))) {
    const auto c = static_cast<unsigned char>(raw);
    const bool allowed = scheme.empty() ? std::isalpha(c) != 0
                                        : std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
    if (!allowed) return {};
    scheme += static_cast<char>(std::tolower(c));
  }
  return url.find(':') == std::string_view::npos ? std::string() : scheme;
}

namespace {

// Blanks and bytes beyond ASCII are encoded; what is encoded already stays.
constexpr unsigned lenient = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE;

std::variant<SourceUrl, Failure> read_source_url(CurlUrl handle) {
  SourceUrl source;
  CURLU* const url = handle.get();
  source.handle = std::move(handle);
  source.scheme = url_part(url, CURLUPART_SCHEME);
  source.path = url_part(url, CURLUPART_PATH, CURLU_URLDECODE);
  source.host = url_part(url, CURLUPART_HOST);
  source.plain = without(url, {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS});
  source.displayed = displayed_form(url);
  if (source.host.starts_with('-')) {
    return Failure{.problem = "malformed URL: a host may not begin with '-'"};
  }
  const std::string port = url_part(url, CURLUPART_PORT);
  if (!port.empty()) source.host += ':' + port;
  return source;
}

Failure malformed(CURLUcode code) {
  return {.problem = std::string("malformed URL: ") + curl_url_strerror(code)};
}

}  // namespace

std::variant<SourceUrl, Failure> parse_source_url(const std::string& url) {
  CurlUrl handle(curl_url());
  const auto code = curl_url_set(handle.get(), CURLUPART_URL, url.c_str(), lenient);
  if (code != CURLUE_OK) return malformed(code);
  return read_source_url(std::move(handle));
}

std::variant<SourceUrl, Failure> redirected(const SourceUrl& from, const std::string& location) {
  CurlUrl handle(curl_url_dup(from.handle.get()));
  const auto code = curl_url_set(handle.get(), CURLUPART_URL, location.c_str(), lenient);
  if (code != CURLUE_OK) return malformed(code);
  CURLU* const to = handle.get();
  const bool same_host =
      url_part(to, CURLUPART_HOST) == url_part(from.handle.get(), CURLUPART_HOST) &&
      url_part(to, CURLUPART_PORT, CURLU_DEFAULT_PORT) ==
          url_part(from.handle.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT) &&
      url_part(to, CURLUPART_SCHEME) == from.scheme;
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD}) {
    const std::string kept = same_host ? url_part(from.handle.get(), part) : std::string();
    const std::string own = url_part(to, part);
    if (same_host && own.empty() && !kept.empty()) curl_url_set(to, part, kept.c_str(), 0);
  }
  auto next = read_source_url(std::move(handle));
  const auto* place = std::get_if<SourceUrl>(&next);
  if (place != nullptr && base::is_private_address(place->plain) &&
      !base::is_private_address(from.plain))
    return Failure{.problem = "private address: '" + place->displayed +
                              "' is of this machine or a private network, '" + from.displayed +
                              "' is not"};
  return next;
}

bool is_loopback(std::string_view host) {
  if (host.starts_with("[::1]")) return true;
  const std::string_view name = host.substr(0, host.find(':'));
  return name == "localhost" || name == "127.0.0.1";
}

std::string name_among(const std::vector<std::string>& urls, const std::string& url) {
  const std::string shown = displayed_url(url);
  int number = 1;
  for (const std::string& other : urls) {
    if (other == url) break;
    if (displayed_url(other) == shown) ++number;
  }
  return number == 1 ? shown : shown + " (" + std::to_string(number) + ")";
}

std::string displayed_url(const std::string& url) {
  const CurlUrl handle(curl_url());
  if (curl_url_set(handle.get(), CURLUPART_URL, url.c_str(), lenient) == CURLUE_OK)
    return displayed_form(handle.get());
  const bool may_hold_a_password = url.find('@') != std::string::npos;
  return may_hold_a_password ? scheme_of(url) + ":..." : url.substr(0, url.find_first_of("?#"));
}

}  // namespace sabath::fetch
