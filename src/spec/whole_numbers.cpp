#include <sabath/spec/whole_numbers.hpp>

#include <algorithm>
#include <cmath>

namespace sabath::spec {
namespace {

using base::ExactNumber;

std::optional<std::string> digits_beyond(const ExactNumber& number) {
  return number.rest == 0 ? std::nullopt : std::optional(base::text_of(number));
}

/// As collect::Summarizer has them: first and last of the lowest rank, the others of all.
WholeValues whole_values(const Series& series, const std::vector<double>& rests) {
  ExactNumber first;
  ExactNumber last;
  std::optional<ExactNumber> least;
  std::optional<ExactNumber> most;
  std::optional<std::int32_t> rank;
  for (std::size_t row = 0; row < series.size(); ++row) {
    const ExactNumber number = number_at(series, &rests, row);
    if (!rank || series.rank[row] < *rank) {
      rank = series.rank[row];
      first = number;
    }
    if (series.rank[row] == *rank) last = number;
    if (!std::isfinite(number.value)) continue;
    least = least ? std::min(*least, number) : number;
    most = most ? std::max(*most, number) : number;
  }
  return {digits_beyond(first),
          digits_beyond(last),
          digits_beyond(least.value_or(ExactNumber{})),
          digits_beyond(most.value_or(ExactNumber{}))};
}

}  // namespace

const std::vector<double>* rests_of(const SeriesRests& rests, const Series& series) {
  const auto found = rests.find(series.stream + "/" + series.name);
  return found == rests.end() ? nullptr : &found->second;
}

ExactNumber number_at(const Series& series, const std::vector<double>* rests, std::size_t row) {
  return {series.value[row], rests == nullptr ? 0 : (*rests)[row]};
}

WholeSummaries whole_summaries(const std::vector<Series>& series, const SeriesRests& rests) {
  WholeSummaries summaries;
  for (const Series& one : series) {
    const std::vector<double>* const of_one = rests_of(rests, one);
    if (of_one == nullptr) continue;
    WholeValues values = whole_values(one, *of_one);
    if (values != WholeValues{}) summaries[one.stream + "/" + one.name] = std::move(values);
  }
  return summaries;
}

std::string whole_judged(const WholeSummaries& summaries, const MetricSummary& metric) {
  const auto found = summaries.find(metric.stream + "/" + metric.name);
  if (found == summaries.end()) return {};
  const WholeValues& values = found->second;
  if (!metric.judge) return values.last.value_or("");
  if (metric.judge != Judge{JudgeKind::best}.label()) return {};
  return (metric.better == Better::lower ? values.min : values.max).value_or("");
}

}  // namespace sabath::spec
