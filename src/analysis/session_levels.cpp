#include "session_levels.hpp"

#include <sabath/base/process/parallel.hpp>
#include <sabath/execution/collect_run.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/session_variables.hpp>

#include <algorithm>
#include <set>

namespace sabath::analysis {
namespace {

struct Found {
  bool has_facet = false;
  std::optional<std::string> value{};
};

Found found_in(const catalog::RunRow& run, const std::string& variable) {
  const auto facets = execution::read_facets(home::RunFiles(run.directory));
  const auto session = std::ranges::find(facets, spec::session_facet, &spec::Facet::name);
  if (session == facets.end()) return {};
  const auto value = session->items.find(variable);
  return {true, value == session->items.end() ? std::nullopt : std::optional(value->second)};
}

std::string why_unknown(const Found& found, bool has_one_key) {
  if (!found.has_facet) return "not recorded";
  if (!found.value) return {};
  if (found.value->empty()) return "the home had no key";
  return has_one_key ? "" : "digests of several homes cannot be compared";
}

}  // namespace

std::optional<std::string> session_variable_of(std::string_view key) {
  const std::string head = std::string(spec::session_facet) + ".";
  if (!key.starts_with(head)) return std::nullopt;
  return std::string(key.substr(head.size()));
}

std::optional<SessionLevels> session_levels(const std::vector<catalog::RunRow>& runs,
                                            const std::string& variable) {
  constexpr std::size_t shown_digits = 12;
  std::vector<Found> all(runs.size());
  base::for_each_in_parallel(runs.size(),
                             [&](std::size_t i) { all[i] = found_in(runs[i], variable); });
  const auto is_set = [](const Found& found) { return found.value.has_value(); };
  if (std::ranges::none_of(all, is_set)) return std::nullopt;
  std::set<std::string> keys;
  for (const Found& found : all) {
    if (found.value && !found.value->empty())
      keys.emplace(spec::key_of_session_value(*found.value));
  }
  SessionLevels levels;
  for (const Found& found : all) {
    levels.why_unknown.push_back(why_unknown(found, keys.size() == 1));
    levels.of_run.push_back(
        !levels.why_unknown.back().empty() ? "unknown"
        : !found.value
            ? "not set"
            : "set (digest " + found.value->substr(spec::key_name_digits, shown_digits) + ")");
  }
  return levels;
}

}  // namespace sabath::analysis
