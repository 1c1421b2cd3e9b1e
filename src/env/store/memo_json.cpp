#include "memo.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

#include <sys/stat.h>

namespace sabath::env {
namespace {

/// Coarse clocks of file systems, with room.
constexpr auto rest = std::chrono::seconds(2);
/// Beyond this the memo begins anew: entries of tools that are gone are not worth looking for.
constexpr std::size_t max_entries = 400;

base::WallTime time_of(const timespec& time) {
  return base::WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace

std::optional<FileStamp> stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  const base::WallTime modified = time_of(status.st_mtim);
  const base::WallTime changed = time_of(status.st_ctim);
  std::string text;
  for (const auto number : {static_cast<std::int64_t>(status.st_dev),
                            static_cast<std::int64_t>(status.st_ino),
                            static_cast<std::int64_t>(status.st_uid),
                            static_cast<std::int64_t>(status.st_size),
                            static_cast<std::int64_t>(modified.time_since_epoch().count()),
                            static_cast<std::int64_t>(changed.time_since_epoch().count())}) {
    text += std::to_string(number) + ' ';
  }
  return FileStamp{text, std::max(modified, changed)};
}

Memo::Memo(std::filesystem::path file, const base::Clock& clock)
    : file_(std::move(file)), clock_(clock) {}

std::optional<std::string> Memo::find(const std::string& key) {
  load();
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  for (const auto& [path, text] : found->second.stamps) {
    const auto stamp = stamp_of(path);
    if (!stamp || stamp->text != text) return std::nullopt;
  }
  return found->second.value;
}

void Memo::remember(const std::string& key,
                    const std::string& value,
                    const std::vector<std::filesystem::path>& files) {
  Entry entry{value, {}};
  for (const auto& path : files) {
    const auto stamp = stamp_of(path);
    if (!stamp || !is_at_rest(stamp->changed)) return;
    entry.stamps[path.string()] = stamp->text;
  }
  load();
  if (entries_.size() >= max_entries) entries_.clear();
  entries_[key] = std::move(entry);
  save();
}

bool Memo::is_at_rest(base::WallTime changed) const {
  return changed + rest < clock_.now();
}

void Memo::load() {
  if (is_loaded_) return;
  is_loaded_ = true;
  if (file_.empty() || base::why_untrusted(file_)) return;
  try {
    auto document = base::JsonDocument::load(file_);
    base::JsonReader root = document.root();
    std::map<std::string, Entry> entries;
    for (auto& [key, item] : root.required("entries").members()) {
      Entry& entry = entries[key];
      entry.value = item.required("value").string();
      for (auto& [path, stamp] : item.required("stamps").members())
        entry.stamps[path] = stamp.string();
    }
    document.finish();
    entries_ = std::move(entries);
  } catch (const base::Error&) {
    // A damaged memo is as good as none; the next `remember` replaces it.
    entries_.clear();
  }
}

void Memo::save() const {
  if (file_.empty()) return;
  nlohmann::json entries = nlohmann::json::object();
  for (const auto& [key, entry] : entries_)
    entries[key] = {{"value", entry.value}, {"stamps", entry.stamps}};
  const nlohmann::json document = {{"entries", entries}};
  try {
    base::make_directories(file_.parent_path());
    base::write_file_atomically(
        file_, base::canonical_json(document), base::Durability::ordered_only, 0600);
  } catch (const base::Error&) {
    // Read-only or full: then the same is found out again next time.
    return;
  }
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
