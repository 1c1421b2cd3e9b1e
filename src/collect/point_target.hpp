#pragma once

#include <sabath/base/text/exact_number.hpp>
#include <sabath/collect/collect.hpp>

#include <string>

namespace sabath::collect {

/// Counts a line that could not be read, and keeps the first ones.
void note_bad(Extraction& extraction, BadLine line);

/// Count and first place of lines whose epoch or step is not whole, or is out of range. Their
/// points are kept without it.
struct NotWhole {
  std::uint64_t count = 0;
  std::string first{};

  void add(const std::filesystem::path& file, std::uint64_t line, std::string_view text);
  void report(std::vector<std::string>& notes) const;
};

/// Destination of the points of one extraction.
struct PointTarget {
  const std::string& stream;
  base::SeriesSink& sink;
  Extraction& extraction;

  void add(std::string_view metric,
           base::SeriesPoint point,
           const base::ExactNumber& number) const {
    point.value = number.value;
    point.rest = number.rest;
    sink.add(sink.open(stream, metric), point);
    ++extraction.points;
  }
};

}  // namespace sabath::collect
