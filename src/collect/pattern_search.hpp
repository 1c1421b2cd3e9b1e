#pragma once

#include "extraction.hpp"

#include <sabath/base/text/regex.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::collect {

/// One pattern, searched in line after line, and the metrics whose values its groups hold. Groups
/// called step, epoch, time and rank say where a value belongs: in the same match, or else on the
/// same line; a match that has no value says step and epoch for the lines that follow. One that
/// says what no point can have, as half an epoch, leaves its values without it, and is told.
class PatternSearch {
 public:
  /// `suffix`: a unit may stand behind a number; it is turned into the metric's where it can be.
  PatternSearch(const std::string& pattern, bool suffix);
  void add(const spec::MetricSpec& metric);

  /// A new file: nothing is known of step and epoch.
  void begin(std::int32_t rank);
  /// `place` is the file and line, for what is told.
  void search(std::string_view line, const BadLine& place, const PointTarget& target);
  /// What should be told, once all lines were searched.
  void tell(std::vector<std::string>& notes) const;

 private:
  struct Metric {
    std::string name{};
    std::string unit{};
    std::vector<int> groups{};
    std::optional<std::string> first_unit{};  ///< that a value was printed with, if it has none
  };
  struct Value {
    const Metric* metric = nullptr;
    base::SeriesPoint point{};
    base::ExactNumber number{};
  };
  /// How often something went wrong, and where first.
  struct Trouble {
    std::uint64_t count = 0;
    std::string first{};
  };

  void take_match(std::string_view line, const BadLine& place);
  template <class Parse, class T>
  void take_place(const std::vector<int>& groups,
                  const BadLine& place,
                  Parse parse,
                  T base::SeriesPoint::*member,
                  base::SeriesPoint& where);
  std::optional<base::ExactNumber> take_value(Metric& metric,
                                              std::string_view line,
                                              std::string_view text,
                                              const BadLine& place);
  std::string_view text_of(const std::vector<int>& groups) const;
  void note(Trouble& trouble, const BadLine& place, std::string_view text) const;
  std::string metric_names() const;

  base::Regex regex_;
  bool suffix_;
  std::vector<int> step_;
  std::vector<int> epoch_;
  std::vector<int> time_;
  std::vector<int> rank_;
  std::vector<Metric> metrics_{};
  base::SeriesPoint sticky_{};
  base::SeriesPoint on_line_{};
  std::vector<Value> values_{};
  Trouble not_numbers_{};
  Trouble other_units_{};
  Trouble mixed_units_{};
  Trouble not_places_{};
  Trouble too_hard_{};
};

}  // namespace sabath::collect
