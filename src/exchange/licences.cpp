#include "spdx_ids.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/exchange/licences.hpp>

#include <array>
#include <map>
#include <utility>

namespace sabath::exchange {
namespace {

using std::string_view;

/// Identifiers by their lower-case form.
const std::map<std::string, string_view, std::less<>>& known_ids() {
  static const auto ids = [] {
    std::map<std::string, string_view, std::less<>> found;
    string_view rest = spdx_ids();
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      const string_view id = rest.substr(0, end);
      if (!id.empty()) found.emplace(base::lower_case(id), id);
      rest = end == string_view::npos ? string_view{} : rest.substr(end + 1);
    }
    return found;
  }();
  return ids;
}

std::string id_of(const std::string& lower) {
  const auto found = known_ids().find(lower);
  return found == known_ids().end() ? std::string{} : std::string(found->second);
}

/// Lower case; words joined by one '-'; without commas and parentheses.
std::string folded(string_view text) {
  std::string out;
  for (const char c : base::lower_case(text)) {
    const bool is_gap = c == ' ' || c == '-' || c == '_' || c == '\t' || c == '\n' || c == ',' ||
                        c == '(' || c == ')' || c == '"';
    if (!is_gap) out += c;
    if (is_gap && !out.empty() && out.back() != '-') out += '-';
  }
  while (out.ends_with('-'))
    out.pop_back();
  return out;
}

constexpr auto spellings = std::to_array<std::pair<string_view, string_view>>({
    {"mit-license", "MIT"},
    {"the-mit-license", "MIT"},
    {"expat", "MIT"},
    {"apache", "Apache-2.0"},
    {"apache2", "Apache-2.0"},
    {"apache-2", "Apache-2.0"},
    {"apache-license-2.0", "Apache-2.0"},
    {"apache-license-version-2.0", "Apache-2.0"},
    {"apache-software-license-2.0", "Apache-2.0"},
    {"bsd-3", "BSD-3-Clause"},
    {"bsd-3-clause-license", "BSD-3-Clause"},
    {"3-clause-bsd", "BSD-3-Clause"},
    {"new-bsd", "BSD-3-Clause"},
    {"modified-bsd", "BSD-3-Clause"},
    {"bsd-2", "BSD-2-Clause"},
    {"bsd-2-clause-license", "BSD-2-Clause"},
    {"simplified-bsd", "BSD-2-Clause"},
    {"cc0", "CC0-1.0"},
    {"cc-zero", "CC0-1.0"},
    {"cc0-public-domain", "CC0-1.0"},
    {"cc0-1.0-universal", "CC0-1.0"},
    {"cc0:-public-domain", "CC0-1.0"},
    {"odc-by", "ODC-By-1.0"},
    {"odbl", "ODbL-1.0"},
    {"pddl", "PDDL-1.0"},
    {"gplv3", "GPL-3.0-only"},
    {"gplv2", "GPL-2.0-only"},
    {"lgplv3", "LGPL-3.0-only"},
    {"mpl-2", "MPL-2.0"},
    {"isc-license", "ISC"},
});

/// "by-sa", "4.0" of "cc-by-sa-4.0" and its spellings.
std::string creative_commons(std::string text) {
  constexpr auto words =
      std::to_array<std::pair<string_view, string_view>>({{"creative-commons", "cc"},
                                                          {"attribution", "by"},
                                                          {"noncommercial", "nc"},
                                                          {"non-commercial", "nc"},
                                                          {"noderivatives", "nd"},
                                                          {"noderivs", "nd"},
                                                          {"no-derivatives", "nd"},
                                                          {"sharealike", "sa"},
                                                          {"share-alike", "sa"},
                                                          {"-international", ""},
                                                          {"-unported", ""},
                                                          {"-public-license", ""},
                                                          {"-license", ""},
                                                          {"-generic", ""}});
  for (const auto& [word, part] : words) {
    if (const auto at = text.find(word); at != std::string::npos)
      text.replace(at, word.size(), part);
  }
  if (text.starts_with("by-")) text.insert(0, "cc-");
  if (text.starts_with("ccby")) text.replace(0, 4, "cc-by");
  return text.starts_with("cc-") ? id_of(text) : std::string{};
}

/// The path of an address at this host; empty for another address.
string_view path_at(string_view address, string_view host) {
  for (const string_view scheme : {"https://", "http://"}) {
    if (address.starts_with(scheme)) address.remove_prefix(scheme.size());
  }
  if (address.starts_with("www.")) address.remove_prefix(4);
  if (!address.starts_with(host)) return {};
  address.remove_prefix(host.size());
  return address.starts_with('/') ? address.substr(1) : string_view{};
}

string_view segment(string_view path, std::size_t number) {
  for (; number > 0; --number) {
    const auto slash = path.find('/');
    if (slash == string_view::npos) return {};
    path.remove_prefix(slash + 1);
  }
  return path.substr(0, path.find_first_of("/?#"));
}

std::string id_at_address(const std::string& address) {
  if (string_view path = path_at(address, "spdx.org"); path.starts_with("licenses/")) {
    std::string id(segment(path, 1));
    for (const string_view end : {".html", ".json"})
      if (id.ends_with(end)) id.resize(id.size() - end.size());
    return id_of(id);
  }
  if (const string_view path = path_at(address, "creativecommons.org"); !path.empty()) {
    if (path.starts_with("publicdomain/zero/")) return "CC0-1.0";
    return id_of("cc-" + std::string(segment(path, 1)) + "-" + std::string(segment(path, 2)));
  }
  for (const string_view host : {"choosealicense.com", "opensource.org"}) {
    std::string id(segment(path_at(address, host), 1));
    if (id.ends_with("-license")) id.resize(id.size() - string_view("-license").size());
    if (!id.empty()) return id_of(id);
  }
  const string_view apache = path_at(address, "apache.org");
  return apache.starts_with("licenses/license-2.0") ? "Apache-2.0" : "";
}

}  // namespace

std::string spdx_id(string_view text) {
  const std::string lower = base::lower_case(base::trimmed(text));
  if (lower.starts_with("http://") || lower.starts_with("https://")) return id_at_address(lower);
  const std::string name = folded(lower);
  if (std::string id = id_of(name); !id.empty()) return id;
  for (const auto& [spelling, id] : spellings)
    if (name == spelling) return std::string(id);
  return creative_commons(name);
}

std::string spdx_url(string_view id) {
  return "https://spdx.org/licenses/" + std::string(id);
}

}  // namespace sabath::exchange
