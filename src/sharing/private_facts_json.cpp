#include "private_facts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace sabath::sharing {
namespace {

using nlohmann::json;

constexpr auto members_of_users = std::to_array<std::string_view>({"user", "account"});
constexpr auto members_of_hosts =
    std::to_array<std::string_view>({"node", "host", "hostname", "made_on_host"});

void collect_members(const json& value, PrivateFacts& facts);

void collect_member(const std::string& name, const json& value, PrivateFacts& facts) {
  if (!value.is_string()) return collect_members(value, facts);
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty()) return;
  if (std::ranges::find(members_of_users, name) != members_of_users.end()) facts.users.insert(text);
  if (std::ranges::find(members_of_hosts, name) != members_of_hosts.end()) facts.hosts.insert(text);
  const auto at = text.find('@');
  if (name != "by" || at == std::string::npos) return;
  facts.users.insert(text.substr(0, at));
  facts.hosts.insert(text.substr(at + 1));
}

void collect_members(const json& value, PrivateFacts& facts) {
  if (value.is_object())
    for (const auto& [name, item] : value.items())
      collect_member(name, item, facts);
  if (value.is_array())
    for (const json& item : value)
      collect_members(item, facts);
}

bool is_of_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte >= 0x80U || c == '.' || c == '_' || c == '-' || c == '+';
}

/// What may stand before an absolute path in a sentence, a command or a list.
bool may_precede(char c) {
  return std::string_view(" \t\r\n\"'`=:,;([{|&><!").find(c) != std::string_view::npos;
}

/// Folders that are alike on all machines.
bool is_of_system(std::string_view path) {
  constexpr auto folders = std::to_array<std::string_view>({"/bin/",
                                                            "/sbin/",
                                                            "/lib/",
                                                            "/lib64/",
                                                            "/dev/",
                                                            "/proc/",
                                                            "/sys/",
                                                            "/etc/",
                                                            "/usr/bin/",
                                                            "/usr/sbin/",
                                                            "/usr/lib/",
                                                            "/usr/lib64/",
                                                            "/usr/libexec/",
                                                            "/usr/share/",
                                                            "/usr/include/",
                                                            "/usr/local/"});
  const std::string folder = std::string(path) + "/";
  return std::ranges::any_of(folders,
                             [&](std::string_view one) { return folder.starts_with(one); });
}

/// End of the name that begins at `begin`.
std::size_t end_of_name(std::string_view text, std::size_t begin) {
  while (begin < text.size() && is_of_name(text[begin]))
    ++begin;
  return begin;
}

}  // namespace

void add_private_members(std::string_view document, PrivateFacts& facts) {
  const json root = json::parse(document, nullptr, false);
  if (!root.is_discarded()) collect_members(root, facts);
}

void add_private_paths(std::string_view text, PrivateFacts& facts) {
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at + 1)) {
    if (at > 0 && !may_precede(text[at - 1])) continue;
    const std::size_t first = end_of_name(text, at + 1);
    if (first == at + 1 || first == text.size() || text[first] != '/') continue;
    const std::size_t second = end_of_name(text, first + 1);
    if (second == first + 1) continue;
    std::string_view path = text.substr(at, second - at);
    while (path.ends_with('.'))
      path.remove_suffix(1);  // the end of a sentence
    if (!is_of_system(path)) facts.paths.emplace(path);
    at = second - 1;
  }
}

std::set<std::string> session_digests(std::string_view record) {
  std::set<std::string> digests;
  const json root = json::parse(record, nullptr, false);
  if (!root.is_object() || !root.contains("facets") || !root["facets"].is_array()) return digests;
  for (const json& facet : root["facets"]) {
    const bool is_session = facet.is_object() && facet.value("name", json()) == "session" &&
                            facet.contains("items") && facet["items"].is_object();
    if (!is_session) continue;
    for (const json& item : facet["items"]) {
      const std::string text = item.is_string() ? item.get<std::string>() : "";
      if (text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos)
        digests.insert(text);
    }
  }
  return digests;
}

}  // namespace sabath::sharing
