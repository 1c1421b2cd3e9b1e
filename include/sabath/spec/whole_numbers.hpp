#pragma once

#include <sabath/base/text/exact_number.hpp>
#include <sabath/spec/metric.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::spec {

/// What the numbers of series have beyond the doubles nearest to them (base::ExactNumber), by
/// "stream/name". Only of series that have a whole number which no double holds.
using SeriesRests = std::map<std::string, std::vector<double>, std::less<>>;

/// Nothing where doubles hold all of them.
const std::vector<double>* rests_of(const SeriesRests& rests, const Series& series);
base::ExactNumber number_at(const Series& series,
                            const std::vector<double>* rests,
                            std::size_t row);

/// All digits of those values of a summary that are whole numbers which no double holds.
struct WholeValues {
  std::optional<std::string> first{};
  std::optional<std::string> last{};
  std::optional<std::string> min{};
  std::optional<std::string> max{};

  bool operator==(const WholeValues&) const = default;
};

/// By "stream/name"; of summaries whose doubles are their values there is nothing.
using WholeSummaries = std::map<std::string, WholeValues, std::less<>>;
WholeSummaries whole_summaries(const std::vector<Series>& series, const SeriesRests& rests);

/// The digits of the value that a result is judged by; else an empty text. A mean has none.
std::string whole_judged(const WholeSummaries& summaries, const MetricSummary& metric);

}  // namespace sabath::spec
