#pragma once

#include "file_position.hpp"

#include <sabath/base/text/exact_number.hpp>
#include <sabath/collect/collect.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::collect {

/// Count and first place of a problem.
struct Trouble {
  std::uint64_t count = 0;
  std::string first{};  ///< "FILE:LINE", and what stands there

  void add(const std::filesystem::path& file, std::uint64_t line, std::string_view what);
  /// The same with the beginning of a text of the file, in quotes.
  void add_text(const std::filesystem::path& file, std::uint64_t line, std::string_view text);
};

/// Adds a note unless it is there: a file may be read for several sources.
void note_once(Extraction& extraction, const std::string& note);
/// Notes lines whose epoch or step is not whole, or is out of range. Their points are kept without
/// it.
void note_not_whole(Extraction& extraction, const Trouble& lines);
/// Notes lines that were left out.
void note_left_out(Extraction& extraction, const Trouble& lines);
constexpr std::size_t max_examples = 10;
/// Counts a line that could not be read, and keeps the first ones.
void note_bad(Extraction& extraction, BadLine line);

struct SourceFile {
  std::filesystem::path path{};
  std::int32_t rank = 0;
  base::ReadLimits limits{};
  FilePosition* position = nullptr;  ///< of a file that grows: only what is new is read
};

/// Destination of the points of one extraction.
struct PointTarget {
  spec::SourceKind kind;
  const std::string& stream;
  base::SeriesSink& sink;
  Extraction& extraction;
  FilePositions* positions = nullptr;  ///< of files that grow; nullptr: all are complete

  /// Begins to read `source` for the source `file` of metrics. Sets its position if it grows.
  /// Returns false if it has nothing new.
  bool begin(SourceFile& source, const std::string& file) const {
    extraction.searched.push_back({kind, file, source.path});
    if (positions == nullptr) return true;
    source.position = positions->to_read(kind, file, source.path, source.rank);
    return source.position != nullptr;
  }

  void add(std::string_view metric,
           base::SeriesPoint point,
           const base::ExactNumber& number) const {
    point.value = number.value;
    point.rest = number.rest;
    sink.add(sink.open(stream, metric), point);
    ++extraction.points;
  }
};

/// Finds the files of a stage that a recipe's "file" names: "stdout", "stderr", or a path beneath
/// the outputs or the working folder. With '*', '?' or '[' it is a shell pattern that also matches
/// across folders; then each file, in the order of paths, is a separate rank. Empty: standard
/// output, then standard error. With `positions` a pattern is searched again only now and then.
std::vector<SourceFile> source_files(const StageFiles& files,
                                     const std::string& file,
                                     FilePositions* positions = nullptr);

using Metrics = std::vector<const spec::MetricSpec*>;

/// Groups the wanted metrics by their file.
std::map<std::string, Metrics> by_file(const std::vector<spec::MetricSpec>& wanted);

}  // namespace sabath::collect
