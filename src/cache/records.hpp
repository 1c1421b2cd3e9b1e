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
#include <type_traits>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {

// The meaning of a record: its text without time, host and run. Records with the same meaning are
// interchangeable.
std::string meaning_of(SourceRecord record);
std::string meaning_of(const AssetRecord& record);
std::string meaning_of(StageOutputs record);
std::string meaning_of(const UnpackedTree& record);

// The place that the name in a record leads to. A URL with a query is not stored whole and leads to
// another one.
std::filesystem::path place_of(const Layout& layout, const SourceRecord& record);
std::filesystem::path place_of(const Layout& layout, const AssetRecord& record);
std::filesystem::path place_of(const Layout& layout, const StageOutputs& record);
std::filesystem::path place_of(const Layout& layout, const UnpackedTree& record);

/// Parses the file at `path`. Returns nothing for a missing or damaged record.
template <class Record>
std::optional<Record> read_record(const std::filesystem::path& path) {
  try {
    if (const auto text = base::read_file_if_exists(path))
      return parse_record<Record>(*text, path.string());
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
  template <class Record>
  std::optional<Record> read(const std::filesystem::path& path) const {
    try {
      const auto content = layout_.beneath().read_if_exists(path);
      if (!content) return std::nullopt;
      auto record = parse_record<Record>(content->text, path.string());
      if (is_believed(path, *content->status, record) ||
          memo_.vouches(Memo::Kind::record, memo_key(path), meaning_of(record)))
        return record;
    } catch (const base::Error& error) {
      const bool is_unreadable = error.kind() == base::ErrorKind::storage;
      if (error.kind() != base::ErrorKind::usage &&
          !(is_unreadable && layout_.is_exposed(path.parent_path())))
        throw;
    }
    return std::nullopt;
  }

  /// Writes a record to its place. Another user's record of the same meaning stays, and counts from
  /// now on.
  template <class Record>
  void write(const Record& record) const {
    const std::filesystem::path path = place_of(layout_, record);
    const std::string text = record_text(record);
    // What is not read again is not written.
    const std::string meaning = meaning_of(parse_record<Record>(text, path.string()));
    if (!is_known<Record>(path, meaning)) {
      layout_.ensure_folder(path.parent_path());
      layout_.beneath().write_atomically(path, text);
      if (!layout_.is_exposed(path.parent_path())) return;
    }
    memo_.remember(Memo::Kind::record, memo_key(path), meaning);
  }

 private:
  template <class Record>
  bool is_believed(const std::filesystem::path& path,
                   const struct stat& status,
                   const Record& record) const {
    if (!base::is_trusted_owner(status.st_uid, trust_)) return false;
    // Another user's record could map a digest to another object.
    if constexpr (std::is_same_v<Record, SourceRecord>) {
      if (record.kind == SourceRecord::Kind::digest && !is_own(status)) return false;
    }
    return !layout_.is_exposed(path.parent_path()) ||
           (is_record_file(status) && place_of(layout_, record) == path);
  }
  static bool is_own(const struct stat& status) { return status.st_uid == ::geteuid(); }
  /// Rejects an object (0444) and a second name of a file: members of a group can move them here.
  static bool is_record_file(const struct stat& status) {
    return (status.st_mode & 0777U) == 0644 && status.st_nlink == 1;
  }
  base::Digest memo_key(const std::filesystem::path& path) const {
    return base::sha256_of(path.lexically_relative(layout_.root()).string());
  }
  /// Says whether another user has written a record of the same meaning.
  template <class Record>
  bool is_known(const std::filesystem::path& path, const std::string& meaning) const {
    if (!layout_.is_exposed(path.parent_path())) return false;
    try {
      const auto content = layout_.beneath().read_if_exists(path);
      return content && !is_own(*content->status) && is_record_file(*content->status) &&
             meaning_of(parse_record<Record>(content->text, path.string())) == meaning;
    } catch (const base::Error&) {
      return false;
    }
  }

  const Layout& layout_;
  const Memo& memo_;
  base::Trust trust_;
};

}  // namespace sabath::cache
