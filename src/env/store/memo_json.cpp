#include "memo.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/utf8.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sabath::env {
namespace {

/// Coarse clocks of file systems, with room.
constexpr auto rest = std::chrono::seconds(2);
/// Beyond this the older half is dropped: entries of tools that are gone are not worth looking for.
constexpr std::size_t max_entries = 400;

}  // namespace

std::string memo_text(const base::FileStamp& stamp) {
  return std::to_string(stamp.device) + ":" + stamp.text();
}

base::WallTime last_change(const base::FileStamp& stamp) {
  return base::WallTime(std::chrono::nanoseconds(std::max(stamp.modified_ns, stamp.changed_ns)));
}

Memo::Memo(const std::filesystem::path& file, const base::Clock& clock)
    : answers_(file, max_entries), clock_(clock) {}

std::optional<std::string> Memo::find(const std::string& key) {
  const auto text = answers_.get(key);
  if (!text) return std::nullopt;
  const auto entry = nlohmann::json::parse(*text, nullptr, false);
  if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_object())
    return std::nullopt;
  for (const auto& [path, known] : entry[1].items()) {
    const auto stamp = base::stamp_of_any(path);
    if (!stamp || known != memo_text(*stamp)) return std::nullopt;
  }
  return entry[0].get<std::string>();
}

void Memo::remember(const std::string& key,
                    const std::string& value,
                    const std::vector<std::filesystem::path>& files) {
  auto stamps = nlohmann::json::object();
  for (const auto& path : files) {
    const auto stamp = base::stamp_of_any(path);
    if (!stamp || !is_at_rest(last_change(*stamp))) return;
    stamps[path.string()] = memo_text(*stamp);
  }
  if (!base::is_utf8(value)) return;
  answers_.put(key, base::canonical_json(nlohmann::json::array({value, stamps})));
  answers_.save();
}

bool Memo::is_at_rest(base::WallTime changed) const {
  return changed + rest < clock_.now();
}

std::string memo_key(std::string_view question,
                     const std::vector<std::string>& words,
                     const base::Environment& environment) {
  base::Hasher hasher;
  const auto add = [&](std::string_view text) {
    hasher.update(std::to_string(text.size()) + ' ');
    hasher.update(text);
  };
  add(question);
  for (const std::string& word : words)
    add(word);
  for (const auto& [name, value] : environment) {
    add(name);
    add(value);
  }
  return hasher.finish().hex;
}

}  // namespace sabath::env
