#include "performance_table.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

#include <cmath>

namespace sabath::report {
namespace {

using base::Align;
using base::TextTable;

std::string variation_text(const std::optional<double>& cv) {
  return cv && std::isfinite(*cv) ? fmt::format("{:.1f} %", 100 * *cv) : "-";
}

/// "1.5 [1.4, 1.6]".
std::string median_text(double median,
                        const std::optional<double>& low,
                        const std::optional<double>& high) {
  if (!low || !high) return number_text(median);
  return fmt::format("{} [{}, {}]", number_text(median), number_text(*low), number_text(*high));
}

std::string verdict_text(const spec::PerformanceRow& row) {
  if (row.verdict) return std::string(spec::to_string(*row.verdict));
  return row.reason.empty() ? "not judged" : "not judged: " + row.reason;
}

}  // namespace

std::string performance_table(const std::vector<spec::PerformanceRow>& rows) {
  TextTable table({{"performance", Align::left},
                   {"A", Align::right},
                   {"B", Align::right},
                   {"ratio", Align::right},
                   {"interval", Align::left},
                   {"CV", Align::left},
                   {"n", Align::left},
                   {"verdict", Align::left}});
  for (const spec::PerformanceRow& row : rows) {
    table.add(
        {row.name + (row.unit.empty() ? "" : " [" + row.unit + "]"),
         median_text(row.median_a, row.median_a_low, row.median_a_high),
         median_text(row.median_b, row.median_b_low, row.median_b_high),
         row.ratio ? fmt::format("{:.3g}", *row.ratio) : "-",
         row.ratio_low ? fmt::format("[{:.3g}, {:.3g}]", *row.ratio_low, *row.ratio_high) : "-",
         variation_text(row.cv_a) + ", " + variation_text(row.cv_b),
         fmt::format("{}, {}", row.n_a, row.n_b),
         verdict_text(row)});
  }
  return table.text() +
         "Median [95 % interval, from 6 values]; a ratio above 1 means that B is worse.\n";
}

}  // namespace sabath::report
