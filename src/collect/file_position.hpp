#pragma once

#include <sabath/base/file_stamp.hpp>
#include <sabath/base/series_sink.hpp>
#include <sabath/spec/metric.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace sabath::collect {

/// How far a file that grows was read. Only complete lines and records count.
struct FilePosition {
  std::int32_t rank = 0;
  std::uint64_t offset = 0;                 ///< of the first byte that was not read
  std::uint64_t number = 0;                 ///< lines or records that were read
  bool is_over = false;                     ///< nothing behind can be read
  std::uint64_t passed_bytes = 0;           ///< of an overlong line whose beginning was read
  base::FileStamp stamp{};                  ///< of the file when it was read last
  std::string header{};                     ///< first record of a table
  std::vector<base::SeriesPoint> places{};  ///< step and epoch that hold on, by pattern
};

/// Positions in all files that one follower reads.
class FilePositions {
 public:
  using Duration = std::chrono::steady_clock::duration;

  /// `again`: time until a folder is searched again for the files of a pattern. 0: in each call.
  explicit FilePositions(Duration again) : again_(again) {}

  /// Calls `search` for the files of a pattern, or returns what it found a short time ago. A search
  /// takes at most a twentieth of the time.
  const std::vector<std::filesystem::path>& matching(
      const std::string& pattern,
      const std::function<std::vector<std::filesystem::path>()>& search);
  /// The position of `path`, read for the source `file` of `kind`. Returns nullptr if it has
  /// nothing new, or if its rank changed: then `is_outdated`.
  FilePosition* to_read(spec::SourceKind kind,
                        const std::string& file,
                        const std::filesystem::path& path,
                        std::int32_t rank);
  /// Whether a file shrank, vanished, or was replaced, or has another rank than before.
  bool is_outdated() const;

 private:
  using Key = std::tuple<spec::SourceKind, std::string, std::filesystem::path>;
  std::map<Key, FilePosition> positions_{};
  bool has_new_ranks_ = false;
  struct Search {
    std::vector<std::filesystem::path> found{};
    std::chrono::steady_clock::time_point next{};
  };
  Duration again_;
  std::map<std::string, Search> searches_{};
};

}  // namespace sabath::collect
