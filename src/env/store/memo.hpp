#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// What a file is as far as stat tells: equal stamps mean equal bytes, if the file was at rest.
struct FileStamp {
  std::string text{};  ///< device, inode, owner, size, times of modification and of change
  base::WallTime changed{};

  bool operator==(const FileStamp&) const = default;
};

/// Follows links. Nothing when there is no such file.
std::optional<FileStamp> stamp_of(const std::filesystem::path& path);

/// Remembers what is slow to find out, together with the files that it was found out from; forgets
/// it when one of them has changed. Kept in a file of this user's own; one that others can write is
/// not believed. One thread at a time; processes may share the file (the last writer wins).
class Memo {
 public:
  /// An empty `file` remembers in this object alone.
  Memo(std::filesystem::path file, const base::Clock& clock);

  std::optional<std::string> find(const std::string& key);
  /// Does nothing where one of `files` changed so lately that a further change could leave the same
  /// stamp. Failing to write is no error: it only costs time later.
  void remember(const std::string& key,
                const std::string& value,
                const std::vector<std::filesystem::path>& files);
  /// Is `changed` long enough ago for a stamp to be believed?
  bool is_at_rest(base::WallTime changed) const;

 private:
  struct Entry {
    std::string value{};
    std::map<std::string, std::string> stamps{};  ///< path -> FileStamp::text
  };
  void load();
  void save() const;

  std::filesystem::path file_;
  const base::Clock& clock_;
  std::map<std::string, Entry> entries_;
  bool is_loaded_ = false;
};

/// Under which an answer of programs is remembered: the question, its words, and all that the
/// layers set, which programs read.
std::string memo_key(std::string_view question,
                     const std::vector<std::string>& words,
                     const base::Environment& environment);

}  // namespace sabath::env
