#pragma once

#include "source_files.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace sabath::collect {

/// Characters that end a line. A progress bar that redraws itself is many lines of a log.
enum class LineEnd { newline, newline_or_return };

/// Reads lines of a file in bounded memory: keeps only the beginning of a line that is too long.
/// Stops after a line of 64 MiB or more, such as a hole of zeros, if only a newline ends lines.
/// Of a file that grows it reads complete lines, from its position on, and moves the position.
class LineReader {
 public:
  static constexpr std::size_t max_line_bytes = std::size_t{1} << 20U;

  /// Throws Error when the file cannot be read.
  explicit LineReader(const SourceFile& source, LineEnd end = LineEnd::newline);

  /// Returns false at the end. Throws Error if the file cannot be read. `line` is valid until the
  /// next call, and may be changed.
  bool next();
  std::string& line() { return line_; }
  bool is_overlong() const { return is_overlong_; }  ///< the line was cut
  bool is_endless() const { return is_endless_; }    ///< it is the last one that is read
  std::uint64_t number() const { return number_; }   ///< of this line, from 1

 private:
  bool refill();
  void pass(std::size_t bytes);
  void move_position();
  bool end_of_file(std::uint64_t line_bytes);
  bool is_passed_before();

  std::filesystem::path path_;
  std::ifstream stream_;
  LineEnd end_;
  base::ReadLimits limits_;
  FilePosition* position_;
  std::uint64_t offset_ = 0;  ///< of the next byte
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::string line_{};
  bool is_overlong_ = false;
  bool is_endless_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace sabath::collect
