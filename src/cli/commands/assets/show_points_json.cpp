#include "show_points.hpp"

#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/series_sink.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace sabath::cli {
namespace {

using base::Error;

/// A number as JSON: of a whole one all digits, of another one its bits.
std::string number_json(const base::ExactNumber& number) {
  return number.rest != 0 ? base::text_of(number) : base::json_number(number.value).dump();
}

std::string column_json(std::string_view name,
                        std::size_t size,
                        const std::function<std::string(std::size_t)>& cell) {
  std::string text = fmt::format(",\n  \"{}\": [", name);
  for (std::size_t i = 0; i < size; ++i)
    text += (i > 0 ? ", " : "") + cell(i);
  return text + "]";
}

std::string place_json(std::int64_t place) {
  return place == base::no_step ? "null" : std::to_string(place);
}

std::string json_of(const spec::Series& series, const std::vector<double>* rests) {
  std::string text = "{\n  \"stage\": " + nlohmann::json(series.stream).dump() +
                     ",\n  \"metric\": " + nlohmann::json(series.name).dump();
  const std::size_t size = series.size();
  text += column_json("rank", size, [&](auto i) { return std::to_string(series.rank[i]); });
  text += column_json("step", size, [&](auto i) { return place_json(series.step[i]); });
  text += column_json("epoch", size, [&](auto i) { return place_json(series.epoch[i]); });
  text += column_json("time_s", size, [&](auto i) { return number_json({series.time_s[i], 0}); });
  text += column_json(
      "value", size, [&](auto i) { return number_json(spec::number_at(series, rests, i)); });
  return text + "\n}\n";
}

std::string table_of(const spec::Series& series, const std::vector<double>* rests) {
  const auto place = [](std::int64_t one) {
    return one == base::no_step ? std::string() : std::to_string(one);
  };
  base::TextTable table({"rank", "step", "epoch", series.stream + "/" + series.name});
  for (std::size_t i = 0; i < series.size(); ++i) {
    table.add({std::to_string(series.rank[i]),
               place(series.step[i]),
               place(series.epoch[i]),
               base::text_of(spec::number_at(series, rests, i))});
  }
  return table.text();
}

bool is_called(const spec::Series& series, const std::string& name) {
  return name == series.stream + "/" + series.name || name == series.name;
}

}  // namespace

std::string points_answer(const std::filesystem::path& series_file,
                          const std::string& metric,
                          bool as_json) {
  std::error_code code;
  spec::SeriesRests rests;
  std::vector<spec::Series> all;
  if (std::filesystem::exists(series_file, code)) all = arrays::read_series(series_file, &rests);
  std::vector<const spec::Series*> found;
  std::vector<std::string> names;
  for (const spec::Series& series : all) {
    names.push_back(series.stream + "/" + series.name);
    if (names.back() == metric) found = {&series};
    if (names.back() == metric) break;
    if (is_called(series, metric)) found.push_back(&series);
  }
  if (found.size() != 1) {
    throw Error(base::ErrorKind::not_found,
                "metric '" + base::printable(metric) + "': " +
                    (found.empty() ? "the run has no points of it" : "several stages have it"),
                names.empty() ? "the run has no points of metrics"
                              : base::printable(fmt::format("it has {}", fmt::join(names, ", "))));
  }
  const std::vector<double>* const beyond = spec::rests_of(rests, *found.front());
  return as_json ? json_of(*found.front(), beyond) : table_of(*found.front(), beyond);
}

}  // namespace sabath::cli
