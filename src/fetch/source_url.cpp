#include "source_url.hpp"

#include <cctype>

namespace sabath::fetch {

namespace {

struct CurlText {
  char* text = nullptr;
  CurlText() = default;
  CurlText(const CurlText&) = delete;
  CurlText& operator=(const CurlText&) = delete;
  ~CurlText() { curl_free(text); }
};

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  CurlText value;
  if (curl_url_get(url, part, &value.text, flags) != CURLUE_OK) return {};
  return value.text;
}

std::string without(CURLU* url, std::initializer_list<CURLUPart> parts) {
  const CurlUrl copy(curl_url_dup(url));
  for (const CURLUPart part : parts)
    curl_url_set(copy.get(), part, nullptr, 0);
  return part_of(copy.get(), CURLUPART_URL);
}

}  // namespace

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

std::variant<SourceUrl, Failure> parse_source_url(const std::string& url) {
  SourceUrl source;
  source.handle.reset(curl_url());
  // Blanks and bytes beyond ASCII are encoded; what is encoded already stays.
  const auto code = curl_url_set(
      source.handle.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE);
  if (code != CURLUE_OK) {
    return Failure{.problem = std::string("malformed URL: ") + curl_url_strerror(code)};
  }
  CURLU* const handle = source.handle.get();
  source.scheme = part_of(handle, CURLUPART_SCHEME);
  source.path = part_of(handle, CURLUPART_PATH, CURLU_URLDECODE);
  source.plain = without(handle, {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS});
  source.displayed = displayed_url(source.plain);
  if (part_of(handle, CURLUPART_HOST).starts_with('-')) {
    return Failure{.problem = "malformed URL: a host may not begin with '-'"};
  }
  return source;
}

std::string displayed_url(const std::string& url) {
  const CurlUrl handle(curl_url());
  const auto code = curl_url_set(
      handle.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE);
  if (code == CURLUE_OK) {
    return without(handle.get(),
                   {CURLUPART_USER,
                    CURLUPART_PASSWORD,
                    CURLUPART_OPTIONS,
                    CURLUPART_QUERY,
                    CURLUPART_FRAGMENT});
  }
  const bool may_hold_a_password = url.find('@') != std::string::npos;
  return may_hold_a_password ? scheme_of(url) + ":..." : url.substr(0, url.find_first_of("?#"));
}

}  // namespace sabath::fetch
