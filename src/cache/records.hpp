#pragma once

#include "layout.hpp"
#include "memo.hpp"
#include "records_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/trust.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::cache {

// What a record says, without when, where and by which run it was written. Records with the same
// meaning are interchangeable.
std::string meaning_of(SourceRecord record);
std::string meaning_of(const AssetRecord& record);
std::string meaning_of(StageOutputs record);
std::string meaning_of(const base::Digest& unpacked);

/// The records of one cache. A record counts when this user, root or a trusted owner has written
/// it. A record of anybody else counts when this user's memo has its meaning: this user once wanted
/// to write the same.
class Records {
 public:
  /// `layout` and `memo` must outlive it.
  Records(const Layout& layout, const Memo& memo, base::Trust trust)
      : layout_(layout), memo_(memo), trust_(std::move(trust)) {}

  /// Nothing where the record is missing, damaged, or does not count. In a shared cache also where
  /// it cannot be read: anybody of the group can put a link or a folder there.
  template <class Parse>
  auto read(const std::filesystem::path& path, Parse&& parse) const
      -> std::optional<decltype(parse(std::string_view(), std::string()))> {
    try {
      const auto content = layout_.beneath().read_if_exists(path);
      if (!content) return std::nullopt;
      auto record = parse(content->text, path.string());
      if (!is_believed(*content->status) && !vouches(path, meaning_of(record))) return std::nullopt;
      return record;
    } catch (const base::Error& error) {
      const bool is_unreadable = error.kind() == base::ErrorKind::storage;
      if (error.kind() != base::ErrorKind::usage && !(is_unreadable && layout_.is_shared())) throw;
    }
    return std::nullopt;
  }

  /// Replaces a record. One of another user that says the same stays, and counts from now on.
  template <class Parse>
  void write(const std::filesystem::path& path, const std::string& text, Parse&& parse) const {
    const std::string meaning = meaning_of(parse(text, path.string()));
    if (is_known(path, [&](const std::string& other) {
          return meaning_of(parse(other, path.string())) == meaning;
        })) {
      remember(path, meaning);
      return;
    }
    put(path, text);
    if (layout_.is_shared()) remember(path, meaning);
  }

 private:
  bool is_believed(const struct stat& status) const;
  bool vouches(const std::filesystem::path& path, const std::string& meaning) const;
  void remember(const std::filesystem::path& path, const std::string& meaning) const;
  /// Has another user written a record that says the same?
  template <class Same>
  bool is_known(const std::filesystem::path& path, Same&& is_same) const {
    if (!layout_.is_shared()) return false;
    try {
      const auto content = layout_.beneath().read_if_exists(path);
      return content && !is_believed(*content->status) && is_same(content->text);
    } catch (const base::Error&) {
      return false;
    }
  }
  void put(const std::filesystem::path& path, const std::string& text) const;

  const Layout& layout_;
  const Memo& memo_;
  base::Trust trust_;
};

}  // namespace sabath::cache
