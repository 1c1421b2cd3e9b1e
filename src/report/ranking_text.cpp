#include "comparison_parts.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::report {
namespace {

using base::Align;
using base::printable;
using base::TextTable;
using spec::RankedGroup;
using spec::Ranking;
using spec::Standing;

std::string ranking_table(const Ranking& ranking) {
  std::vector<TextTable::Column> columns{{"place", Align::left}};
  for (const std::string& by : ranking.by)
    columns.push_back({printable(by), Align::left});
  columns.insert(columns.end(), {">n", ">mean", "95 % interval", "from the best", "is"});
  TextTable table(columns);
  for (std::size_t i = 0; i < std::min(ranking.groups.size(), most_groups); ++i) {
    const RankedGroup& group = ranking.groups[i];
    std::vector<std::string> cells{rank_place_text(group)};
    for (const std::string& level : group.levels)
      cells.push_back(level_text(level));
    cells.push_back(std::to_string(group.n));
    cells.push_back(number_text(group.mean));
    cells.push_back(mean_interval_text(group));
    cells.push_back(distance_text(group));
    cells.push_back(printable(standing_text(group)));
    table.add(std::move(cells));
  }
  return table.text() + more_groups(ranking.groups.size());
}

std::string excluded_text(const Ranking& ranking) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranking.excluded.size(), most_groups); ++i) {
    const spec::ExcludedGroup& group = ranking.excluded[i];
    text += fmt::format("{}    {} ({}): {}\n",
                        i == 0 ? "excluded" : "        ",
                        printable(spec::group_name(ranking.by, group.levels)),
                        base::counted(group.runs, "run"),
                        printable(group.reason));
  }
  const std::string more = more_groups(ranking.excluded.size());
  return text + (more.empty() ? "" : "            " + more);
}

}  // namespace

std::string rank_place_text(const RankedGroup& group) {
  return fmt::format("{}{}", group.place, group.standing == Standing::undecided ? "?" : "");
}

std::string mean_interval_text(const RankedGroup& group) {
  if (!group.low) return "-";
  return fmt::format("[{}, {}]", number_text(*group.low), number_text(*group.high));
}

std::string distance_text(const RankedGroup& group) {
  if (!group.difference) return "-";
  std::string text = fmt::format("{:+.3g}", *group.difference);
  if (group.difference_low)
    text += fmt::format(" [{:.3g}, {:.3g}]", *group.difference_low, *group.difference_high);
  return text;
}

std::string standing_text(const RankedGroup& group) {
  const std::string standing(spec::to_string(group.standing));
  return group.reason.empty() ? standing : standing + ": " + group.reason;
}

std::string ranked_by_text(const Ranking& ranking) {
  std::string text = fmt::format(
      "{}, {} is better",
      spec::shown_title(ranking.metric, ranking.unit, ranking.performance, ranking.judge),
      spec::to_string(ranking.better));
  return text + (ranking.margin
                     ? fmt::format("; margin {}, by {}", *ranking.margin, ranking.margin_from)
                     : "; no margin, so that no groups can be tied");
}

std::string result_word(const Ranking& ranking) {
  if (ranking.result == "none") return "NOTHING QUALIFIES";
  std::string word = ranking.result;
  std::ranges::transform(
      word, word.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  return word;
}

std::string ranking_text(const Ranking& ranking) {
  const std::string recipe = ranking.recipe.empty() ? "(none)" : ranking.recipe;
  std::string text = "recipe      " + printable(recipe) + ": " + base::counted(ranking.runs, "run");
  if (ranking.imported > 0) text += fmt::format(", {} of them imported", ranking.imported);
  text += "\n";
  if (!ranking.metric.empty()) text += "metric      " + printable(ranked_by_text(ranking)) + "\n";
  if (!ranking.rules.empty()) text += "rules       " + printable(ranking.rules) + "\n";
  for (const spec::LeftOut& left_out : ranking.left_out)
    text += fmt::format("left out    {} ({})\n", left_out.runs, printable(left_out.reason));
  for (const std::string& note : ranking.notes)
    text += "note        " + printable(note) + "\n";
  if (!ranking.groups.empty()) text += "\n" + ranking_table(ranking);
  if (!ranking.excluded.empty()) text += "\n" + excluded_text(ranking);
  return text +
         fmt::format("\nRESULT      {}: {}\n", result_word(ranking), printable(ranking.reason));
}

}  // namespace sabath::report
