#include "conda_json.hpp"

#include "layers/layer_variables.hpp"
#include "store/prefix_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Programs print other lines around it.
json object_in(const std::string& text) {
  const auto begin = text.find('{');
  if (begin == std::string::npos) return json();
  return json::parse(text.substr(begin, text.rfind('}') + 1 - begin), nullptr, false);
}

std::string text_of(const json& item, const char* key) {
  const auto found = item.find(key);
  return found != item.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void take_digests(const json& item, CondaPackage& package) {
  const auto take = [&](const char* key, base::DigestAlgorithm algorithm, auto& digest) {
    if (!digest) digest = base::parse_digest(algorithm, text_of(item, key));
  };
  take("sha256", base::DigestAlgorithm::sha256, package.sha256);
  take("md5", base::DigestAlgorithm::md5, package.md5);
}

CondaPackage package_of(const json& item) {
  CondaPackage package{text_of(item, "name"), text_of(item, "version"), {}, {}, {}, {}};
  package.build = text_of(item, item.contains("build_string") ? "build_string" : "build");
  package.url = without_login(text_of(item, "url"));
  take_digests(item, package);
  return package;
}

/// The items of a list of actions; conda before 4.4 has a list of such objects.
std::vector<CondaPackage> actions_of(const json& answer, const char* key) {
  std::vector<CondaPackage> packages;
  const json actions = answer.value("actions", json::object());
  for (const json& one : actions.is_array() ? actions : json::array({actions})) {
    for (const json& item : one.value(key, json::array()))
      if (item.is_object()) packages.push_back(package_of(item));
  }
  return packages;
}

bool is_same(const CondaPackage& one, const CondaPackage& other) {
  return one.name == other.name && one.version == other.version && one.build == other.build;
}

/// conda keeps the lists of its channels with the address that they came from.
void look_up(CondaPackage& package, const fs::path& package_cache) {
  for (const fs::directory_entry& entry : entries_in(package_cache / "cache")) {
    if (entry.path().extension() != ".json") continue;
    const json list =
        json::parse(base::read_file(entry.path(), std::uint64_t{4} << 30U), nullptr, false);
    if (!list.is_object() || text_of(list, "_url").empty()) continue;
    for (const char* const kind : {"packages.conda", "packages"}) {
      const json packages = list.value(kind, json::object());
      for (const auto& [file, item] : packages.items()) {
        CondaPackage found = package_of(item);
        if (!is_same(found, package)) continue;
        package.url = without_login(text_of(list, "_url")) + "/" + file;
        take_digests(item, package);
        return;
      }
    }
  }
}

/// Of "paths_data" in conda-meta, or of a package's info/paths.json, which have one shape.
std::optional<std::size_t> shortest_placeholder(const json& data) {
  std::optional<std::size_t> shortest;
  for (const json& path : data.value("paths", json::array())) {
    if (text_of(path, "file_mode") != "binary") continue;
    const std::size_t length = text_of(path, "prefix_placeholder").size();
    shortest = std::min(shortest.value_or(length), length);
  }
  return shortest;
}

}  // namespace

std::vector<CondaPackage> read_conda_solution(const std::string& answer,
                                              const fs::path& package_cache,
                                              const std::string& place) {
  const json root = object_in(answer);
  if (!root.is_object()) {
    throw_environment(place + ": its answer cannot be read");
  }
  const auto fetched = actions_of(root, "FETCH");
  auto packages = actions_of(root, "LINK");
  for (CondaPackage& package : packages) {
    const auto found =
        std::ranges::find_if(fetched, [&](const auto& one) { return is_same(one, package); });
    if (package.url.empty() && found != fetched.end()) package = *found;
    if (package.url.empty()) look_up(package, package_cache);
    if (!conda_package_at(package.url)) {
      throw_environment(place + ": it does not say where " + package.name + " " + package.label() +
                        " is");
    }
  }
  std::ranges::sort(packages, {}, &CondaPackage::name);
  return packages;
}

std::string read_conda_problem(const std::string& answer) {
  const json root = object_in(answer);
  if (!root.is_object()) return {};
  if (std::string message = text_of(root, "message"); !message.empty()) return message;
  std::string problems;
  const auto listed = root.find("solver_problems");
  if (listed == root.end() || !listed->is_array()) return {};
  for (const json& problem : *listed)
    if (problem.is_string()) problems += problem.get<std::string>() + "\n";
  return problems;
}

std::string read_virtual_packages(const std::string& answer) {
  const json root = object_in(answer);
  std::string text;
  for (const char* const key : {"virtual packages", "virtual_pkgs"}) {
    if (!root.is_object() || !root.contains(key)) continue;
    for (const json& item : root[key]) {
      std::string one;
      for (const json& part : item.is_array() ? item : json::array({item}))
        one += (one.empty() ? "" : "=") + (part.is_string() ? part.get<std::string>() : "");
      text += (text.empty() ? "" : " ") + one;
    }
  }
  return text;
}

std::string conda_settings(const std::vector<std::string>& channels, bool is_strict) {
  json settings{{"channels", channels},
                {"always_copy", true},
                {"always_yes", true},
                {"auto_update_conda", false},
                {"create_default_packages", json::array()},
                {"notify_outdated_conda", false},
                {"number_channel_notices", 0},
                {"pinned_packages", json::array()},
                {"register_envs", false},
                {"report_errors", false},
                {"use_lockfiles", false}};
  if (is_strict) settings["channel_priority"] = "strict";
  // Old ones ask these channels whatever is said.
  if (std::ranges::find(channels, "defaults") == channels.end())
    settings["default_channels"] = json::array();
  return settings.dump(1) + "\n";
}

std::optional<std::size_t> longest_prefix_of(const std::filesystem::path& extracted) {
  if (const auto text = base::read_file_if_exists(extracted / "info/paths.json")) {
    const json data = json::parse(*text, nullptr, false);
    return data.is_object() ? shortest_placeholder(data) : std::nullopt;
  }
  // Packages from before 2017: "PLACEHOLDER binary path".
  std::optional<std::size_t> shortest;
  const auto text = base::read_file_if_exists(extracted / "info/has_prefix");
  for (const std::string& line : base::split(text.value_or(""), '\n')) {
    const auto blank = line.find(' ');
    if (blank == std::string::npos || line.compare(blank + 1, 7, "binary ") != 0) continue;
    shortest = std::min(shortest.value_or(blank), blank);
  }
  return shortest;
}

std::vector<InstalledPackage> read_conda_meta(const fs::path& prefix) {
  std::vector<InstalledPackage> installed;
  for (const fs::directory_entry& entry : entries_in(prefix / "conda-meta")) {
    if (entry.path().extension() != ".json") continue;
    const json item = json::parse(base::read_file(entry.path()), nullptr, false);
    if (!item.is_object()) {
      throw_environment(entry.path().string() + ": cannot be read");
    }
    installed.push_back(
        {package_of(item), shortest_placeholder(item.value("paths_data", json::object()))});
  }
  return installed;
}

}  // namespace sabath::env
