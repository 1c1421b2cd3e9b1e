#pragma once

#include "layout.hpp"
#include "objects/digest_memo.hpp"
#include "records_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/trust.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::cache {

// The meaning of a record: its text without time, host and run. Records with the same meaning are
// interchangeable.
std::string meaning_of(SourceRecord record);
std::string meaning_of(const AssetRecord& record);
std::string meaning_of(StageOutputs record);
std::string meaning_of(const base::Digest& unpacked);

/// Says whether the name in a record leads to its place, so that nobody has moved it there. A URL
/// with a query is not stored whole and leads nowhere.
bool belongs_at(const Layout& layout,
                const std::filesystem::path& path,
                const SourceRecord& record);
bool belongs_at(const Layout& layout, const std::filesystem::path& path, const AssetRecord& record);
bool belongs_at(const Layout& layout,
                const std::filesystem::path& path,
                const StageOutputs& record);
/// For an unpacked archive, whose record is checked against its place when it is parsed.
bool belongs_at(const Layout& layout, const std::filesystem::path& path, const base::Digest& tree);

/// Says whether only this user's own record counts: one that maps another digest to an object.
bool must_be_own(const SourceRecord& record);
template <class Record>
bool must_be_own(const Record& /*record*/) {
  return false;
}

/// Parses the file at `path`. Returns nothing for a missing or damaged record.
template <class Parse>
auto read_record(const std::filesystem::path& path, Parse&& parse)
    -> std::optional<decltype(parse(std::string_view(), std::string()))> {
  try {
    if (const auto text = base::read_file_if_exists(path)) return parse(*text, path.string());
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::usage) throw;
  }
  return std::nullopt;
}

/// The records of one cache. A record counts when this user, root or a trusted owner wrote it.
/// Another record counts when this user's memo has its meaning: this user once wrote the same.
/// Where others can move records, a record counts only in its own place.
class Records {
 public:
  /// `layout` and `memo` outlive it.
  Records(const Layout& layout, const Memo& memo, base::Trust trust)
      : layout_(layout), memo_(memo), trust_(std::move(trust)) {}

  /// Returns nothing where the record is missing, damaged, or does not count. In a shared cache
  /// also where it is unreadable: the group can put a link or a folder there.
  template <class Parse>
  auto read(const std::filesystem::path& path, Parse&& parse) const
      -> std::optional<decltype(parse(std::string_view(), std::string()))> {
    try {
      const auto content = layout_.beneath().read_if_exists(path);
      if (!content) return std::nullopt;
      auto record = parse(content->text, path.string());
      if (is_believed(path, *content->status, record) || vouches(path, meaning_of(record)))
        return record;
    } catch (const base::Error& error) {
      const bool is_unreadable = error.kind() == base::ErrorKind::storage;
      if (error.kind() != base::ErrorKind::usage &&
          !(is_unreadable && layout_.is_exposed(path.parent_path())))
        throw;
    }
    return std::nullopt;
  }

  /// Replaces a record. Another user's record of the same meaning stays, and counts from now on.
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
    if (layout_.is_exposed(path.parent_path())) remember(path, meaning);
  }

 private:
  template <class Record>
  bool is_believed(const std::filesystem::path& path,
                   const struct stat& status,
                   const Record& record) const {
    if (!base::is_trusted_owner(status.st_uid, trust_)) return false;
    if (must_be_own(record) && !is_own(status)) return false;
    return !layout_.is_exposed(path.parent_path()) ||
           (is_record_file(status) && belongs_at(layout_, path, record));
  }
  static bool is_own(const struct stat& status);
  /// Rejects an object (0444) and a second name of a file: members of a group can move them here.
  static bool is_record_file(const struct stat& status);
  bool vouches(const std::filesystem::path& path, const std::string& meaning) const;
  void remember(const std::filesystem::path& path, const std::string& meaning) const;
  /// Says whether another user has written a record of the same meaning.
  template <class Same>
  bool is_known(const std::filesystem::path& path, Same&& is_same) const {
    if (!layout_.is_exposed(path.parent_path())) return false;
    try {
      const auto content = layout_.beneath().read_if_exists(path);
      return content && !is_own(*content->status) && is_record_file(*content->status) &&
             is_same(content->text);
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
