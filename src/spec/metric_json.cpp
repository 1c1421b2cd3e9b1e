#include "metric_json.hpp"

#include "checked_read.hpp"

#include <sabath/base/text_table.hpp>

#include <algorithm>
#include <cmath>

namespace sabath::spec {
namespace {

constexpr std::size_t longest_metric_name = 128;

/// Programs that exist choose the names of their metrics ("val/Loss"), so that these are freer than
/// names elsewhere.
bool is_metric_name(const std::string& name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return !name.empty() && name.size() <= longest_metric_name &&
         std::none_of(name.begin(), name.end(), is_control);
}

std::optional<double> read_amount(base::JsonReader reader) {
  if (!reader.exists()) return std::nullopt;
  const double amount = reader.number();
  if (!std::isfinite(amount) || amount < 0) {
    reader.problem("must be a finite number that is not negative");
  }
  return amount;
}

}  // namespace

Tolerance read_tolerance(base::JsonReader reader) {
  Tolerance tolerance;
  if (!reader.exists()) return tolerance;
  tolerance.absolute = read_amount(reader.optional("absolute"));
  tolerance.relative = read_amount(reader.optional("relative"));
  base::JsonReader ulp = reader.optional("ulp");
  if (ulp.exists()) tolerance.ulp = ulp.unsigned_integer();
  reader.finish();
  return tolerance;
}

MetricSpec read_metric(const std::string& name, base::JsonReader reader) {
  MetricSpec metric;
  metric.name = name;
  if (!is_metric_name(name)) {
    reader.problem("'" + base::printable(name) + "' is not the name of a metric",
                   "1 to 128 bytes without control characters");
  }
  metric.from = read_word(reader.optional("from"), {"jsonl"});
  metric.unit = reader.optional("unit").string();
  metric.better =
      parse_enum<Better>(read_word(reader.optional("better"), enum_words<Better>())).value();
  metric.performance = read_word(reader.optional("kind"), {"result", "performance"}) != "result";
  metric.tolerance = read_tolerance(reader.optional("tolerance"));
  metric.margin = read_amount(reader.optional("margin"));
  metric.warmup = read_count(reader.optional("warmup"), 0, 0);
  metric.description = reader.optional("description").string();
  reader.finish();
  return metric;
}

}  // namespace sabath::spec
