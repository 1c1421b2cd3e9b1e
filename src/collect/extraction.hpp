#pragma once

#include <sabath/collect/collect.hpp>

#include <string>

namespace sabath::collect {

/// Counts a line that could not be read, and keeps the first ones.
void note_bad(Extraction& extraction, BadLine line);

/// Where the points of one extraction go.
struct PointTarget {
  const std::string& stream;
  base::SeriesSink& sink;
  Extraction& extraction;

  void add(std::string_view metric, const base::SeriesPoint& point) const {
    sink.add(sink.open(stream, metric), point);
    ++extraction.points;
  }
};

}  // namespace sabath::collect
