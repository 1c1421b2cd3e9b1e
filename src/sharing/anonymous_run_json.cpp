#include "anonymous_run.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* no_user = "anonymous";
/// Members that define the run: their texts stay, and are listed where they name a path.
constexpr auto kept_members = std::to_array<std::string_view>(
    {"recipe_text", "argv_template", "parameters", "facts", "key_items", "keys"});
constexpr auto kept_facets = std::to_array<std::string_view>(
    {"code", "data", "environment", "parameters", "seed", "scope", "determinism"});
/// Members that name this machine, and are of no use elsewhere.
constexpr auto emptied_members =
    std::to_array<std::string_view>({"mounts", "boot_id", "process", "boot", "remotes", "branch"});
constexpr auto user_members = std::to_array<std::string_view>({"user", "account"});

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Replaces the names of one place in documents.
class Anonymizer {
 public:
  Anonymizer(const PrivateFacts& facts,
             const spec::RunPlan& plan,
             const fs::path& run,
             std::string id)
      : old_id_(plan.run_id), new_id_(std::move(id)) {
    add_folder(plan.recipe_directory, "recipe");
    add_folder(plan.cache_directory, "cache");
    add_folder(plan.state_directory, "state");
    add_folder(fs::absolute(run).parent_path().parent_path().string(), "home");
    int number = 0;
    for (const std::string& path : facts.paths)
      add_folder(path, "path" + std::to_string(++number));
    std::ranges::sort(folders_, [](const auto& one, const auto& other) {
      return one.first.size() > other.first.size();
    });
    number = 0;
    for (const std::string& host : facts.hosts)
      hosts_[host] = "node" + std::to_string(++number);
  }

  void change(ordered_json& value, const std::string& name = {}) const {
    if (value.is_string()) {
      value = changed(value.get<std::string>(), name);
    } else if (value.is_array()) {
      for (ordered_json& item : value)
        change(item, name);
    } else if (value.is_object()) {
      change_members(value);
    }
  }

 private:
  void add_folder(const std::string& path, const std::string& name) {
    if (path.size() > 1 && path[0] == '/') folders_.emplace_back(path, "/anonymous/" + name);
  }

  void change_members(ordered_json& value) const {
    const bool is_facet = value.contains("items") && value.contains("name");
    if (is_facet && is_among(kept_facets, value["name"].get<std::string>())) return;
    // Digests of the values of a session's variables can be guessed.
    if (is_facet && value["name"] == "session") value["items"] = ordered_json::object();
    rename_paths(value);
    for (auto& [name, item] : value.items()) {
      if (is_among(kept_members, name)) continue;
      if (is_among(emptied_members, name)) {
        item = item.is_array()    ? ordered_json::array()
               : item.is_object() ? ordered_json::object()
                                  : ordered_json("");
      } else {
        change(item, name);
      }
    }
  }

  /// Files that a run opened are named by members.
  void rename_paths(ordered_json& value) const {
    const bool has_paths =
        std::ranges::any_of(value.items(), [](const auto& one) { return one.key()[0] == '/'; });
    if (!has_paths) return;
    ordered_json renamed = ordered_json::object();
    for (const auto& [name, item] : value.items())
      renamed[name[0] == '/' ? changed(name, "") : name] = item;
    value = std::move(renamed);
  }

  std::string changed(std::string text, const std::string& name) const {
    if (text.empty()) return text;
    if (is_among(user_members, name)) return no_user;
    if (name == "by") return std::string(no_user) + "@" + no_user;
    if (const auto host = hosts_.find(text); host != hosts_.end()) return host->second;
    replace_all(text, old_id_, new_id_);
    for (const auto& [folder, other] : folders_)
      replace_folder(text, folder, other);
    return text;
  }

  static void replace_all(std::string& text, const std::string& what, const std::string& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
      text.replace(at, what.size(), by);
  }

  /// Where the name of the folder ends, and not within a longer one.
  static void replace_folder(std::string& text, const std::string& what, const std::string& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
      const std::size_t end = at + what.size();
      const auto next = static_cast<unsigned char>(end < text.size() ? text[end] : ' ');
      const bool is_whole = std::isalnum(next) == 0 && next != '_' && next != '-' && next != '.';
      if (is_whole) text.replace(at, what.size(), by);
      at += is_whole ? by.size() : what.size();
    }
  }

  std::string old_id_;
  std::string new_id_;
  std::vector<std::pair<std::string, std::string>> folders_{};  ///< the longest first
  std::map<std::string, std::string> hosts_{};
};

/// An id of the usual form: the letters at its end follow from the digest of the record.
std::string anonymous_id(const std::string& id, const base::Digest& origin) {
  constexpr std::size_t letters = 8;
  std::string made = id.substr(0, id.rfind('-') + 1);
  for (std::size_t i = 0; i < letters; ++i) {
    const unsigned value = static_cast<unsigned char>(origin.hex[2 * i]) * 31U +
                           static_cast<unsigned char>(origin.hex[2 * i + 1]);
    made += static_cast<char>('a' + value % 26U);
  }
  return made;
}

/// A statement of the crate itself, behind those of people.
std::string derivation_note(const std::string& at, const std::string& origin) {
  return base::pretty_json({{"schema", 1},
                            {"at", at},
                            {"by", std::string(no_user) + "@" + no_user},
                            {"note", "anonymous; derived from the record " + origin}});
}

}  // namespace

std::string make_anonymous(const fs::path& run,
                           const PrivateFacts& facts,
                           CrateContent& content,
                           exchange::CrateRun& crate) {
  const home::RunFiles files(run);
  const base::Digest origin = base::sha256_of(base::read_file(files.record(), ~0ULL));
  const std::string id = anonymous_id(crate.record.run_id, origin);
  const Anonymizer anonymizer(facts, files.read_plan(), run, id);
  int number = 1;
  for (const home::RunStatement& statement : home::read_statements(run))
    number = std::max(number, statement.number + 1);
  for (auto file = content.files.begin(); file != content.files.end();) {
    const bool is_document = file->first.ends_with(".json") && file->first.starts_with("run/") &&
                             !file->first.starts_with("run/outputs/");
    if (is_document) content.texts[file->first] = base::read_file(file->second, ~0ULL);
    file = is_document ? content.files.erase(file) : std::next(file);
  }
  for (auto& [name, text] : content.texts) {
    if (name == "recipe.json") continue;
    auto document = ordered_json::parse(text, nullptr, false);
    if (document.is_discarded()) continue;
    anonymizer.change(document);
    if (name == "run/plan.json") document.erase("trusted");
    text = base::pretty_json(document);
  }
  content.texts["run/said/" + std::to_string(number) + ".json"] =
      derivation_note(crate.record.ended, origin.text());
  crate.record = spec::parse_run_record(content.texts.at("run/record.json"), "record.json");
  for (spec::Asset& asset : crate.inputs)
    asset = spec::parse_asset(content.texts.at("assets/" + asset.name + ".asset.json"), asset.name);
  return origin.text();
}

}  // namespace sabath::sharing
