#include "pages.hpp"
#include "runs_under_way.hpp"
#include "view_state.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/version.hpp>
#include <sabath/catalog/run_facets.hpp>
#include <sabath/live/answers.hpp>
#include <sabath/live/run_list.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include <unistd.h>

namespace sabath::live {
namespace {

using nlohmann::ordered_json;
constexpr std::size_t most_rows = 100;
constexpr std::size_t most_columns = 12;
constexpr std::size_t most_facets = 12;

std::size_t number_of(const serve::Query& query, const std::string& name, std::size_t usual) {
  const std::string text = query.parameter(name);
  if (text.empty()) return usual;
  const auto number = base::number_in<std::size_t>(text);
  if (number) return *number;
  throw base::Error(base::ErrorKind::usage, name + ": is not a whole number");
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& part : base::split(text, ','))
    names.emplace_back(base::trimmed(part));
  return names;
}

}  // namespace

std::string about_json(ViewState& state) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return base::compact_json({{"schema", 1},
                             {"version", std::string(base::version())},
                             {"home", state.parts().folders.home.string()},
                             {"host", std::string(host.data())},
                             {"user", base::user_name()}});
}

std::string now_json(ViewState& state) {
  const std::lock_guard lock(state.mutex());
  return base::compact_json(state.under_way().page());
}

std::string runs_json(ViewState& state, const serve::Query& query) {
  RunListRequest request;
  request.selection = query.parameter("select");
  request.sort = names_in(query.parameter("sort"));
  request.columns = names_in(query.parameter("columns"));
  request.from = number_of(query, "from", 0);
  request.limit = std::clamp<std::size_t>(number_of(query, "limit", most_rows), 1, most_rows);
  if (request.columns.size() > most_columns) request.columns.resize(most_columns);
  const std::lock_guard lock(state.mutex());
  const catalog::Catalog& catalog = state.catalog();
  RunList list = list_runs(request, catalog, state.clock().now());
  state.under_way().refresh(list.rows);
  for (catalog::RunRow& row : list.rows)
    row.state = state.under_way().state_of(row);
  ordered_json answer =
      ordered_json::parse(json_answer(list.rows, list.reasons, list.count, list.columns));
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    answer["runs"][i]["study"] = list.rows[i].study;
    answer["runs"][i]["message"] = list.rows[i].message;
  }
  answer["titles"] = ordered_json::object();
  for (const catalog::RunColumn& column : list.columns)
    answer["titles"][column.key] = column.title;
  answer["has_more"] = list.has_more;
  answer["from"] = request.from;
  return base::compact_json(answer);
}

std::string facets_json(ViewState& state, const serve::Query& query) {
  const catalog::RunFacets runs(state.parts().folders.catalog());
  ordered_json facets = ordered_json::object();
  for (const char* key : {"recipe", "status", "host", "user", "tag"}) {
    ordered_json& values = facets[key] = ordered_json::array();
    for (const auto& [value, count] :
         runs.counts(query.parameter("select"), key, most_facets, state.clock().now()))
      values.push_back({value, count});
  }
  return base::compact_json({{"schema", 1}, {"facets", std::move(facets)}});
}

}  // namespace sabath::live
