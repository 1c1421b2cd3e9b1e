#include <sabath/base/text/regex.hpp>
#include <sabath/exchange/jsonld.hpp>

namespace sabath::exchange {

bool is_persistent_identifier(const std::string& text) {
  static const base::Form form(
      "(?:(?:https?://(?:dx\\.)?doi\\.org/|doi:)?10\\.\\d{4,9}/\\S+|(?:https?://n2t\\.net/)?ark:/"
      "?\\d{5,}/\\S+|"
      "(?:https?://hdl\\.handle\\.net/|hdl:)\\d[\\d.]*/\\S+|ni:///sha-256;[A-Za-z0-9_-]{43})");
  return form.matches(text);
}

std::string address_of_identifier(const std::string& identifier) {
  if (!is_persistent_identifier(identifier)) return {};
  if (identifier.starts_with("http") || identifier.starts_with("ni:")) return identifier;
  if (identifier.starts_with("doi:")) return "https://doi.org/" + identifier.substr(4);
  if (identifier.starts_with("10.")) return "https://doi.org/" + identifier;
  if (identifier.starts_with("hdl:")) return "https://hdl.handle.net/" + identifier.substr(4);
  return "https://n2t.net/" + identifier;
}

}  // namespace sabath::exchange
