#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/analysis/rank_runs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>

#include <algorithm>
#include <filesystem>

namespace sabath::cli {
namespace {

struct RankOptions {
  std::vector<std::string> selections{};
  std::vector<std::string> by{};
  std::string metric{};
  std::string rules{};
  std::optional<double> margin{};
  std::vector<std::string> across{};
};

spec::RankingRules read_rules(const std::string& file) {
  const auto text = base::read_file_if_exists(file);
  if (!text) {
    throw base::Error(base::ErrorKind::not_found,
                      "--rules " + base::printable(file) + ": no such file",
                      "'sabath help rank' shows such a document");
  }
  return spec::parse_ranking_rules(*text, file);
}

/// A ranking that others can repeat has no other rules than its document.
void refuse_both(const char* option, bool is_given, bool is_in_rules, const std::string& file) {
  if (!is_given || !is_in_rules) return;
  throw usage_error(std::string(option) + ": " + base::printable(file) + " names it already",
                    "remove the option, or change the rules");
}

analysis::RankRequest rank_request(const RankOptions& options) {
  analysis::RankRequest request;
  if (!options.rules.empty()) {
    request.rules = read_rules(options.rules);
    request.rules_file = options.rules;
    request.margin_from = options.rules;
  }
  spec::RankingRules& rules = request.rules;
  refuse_both("--by", !options.by.empty(), !rules.by.empty(), options.rules);
  refuse_both("--metric", !options.metric.empty(), !rules.metric.empty(), options.rules);
  refuse_both("--margin", options.margin.has_value(), rules.margin.has_value(), options.rules);
  if (!options.by.empty()) rules.by = options.by;
  if (!options.metric.empty()) rules.metric = options.metric;
  if (options.margin) {
    rules.margin = options.margin;
    request.margin_from = "--margin";
  }
  request.across = {options.across.begin(), options.across.end()};
  return request;
}

void refuse_seed(const std::vector<std::string>& by) {
  if (std::ranges::find(by, "seed") == by.end()) return;
  throw usage_error("--by seed: seeds are the samples of each group, and cannot be ranked",
                    "'sabath list runs' shows single runs");
}

int run_rank(const RankOptions& options, Workspace& workspace) {
  refuse_seed(options.by);
  analysis::RankRequest request = rank_request(options);
  SelectedRuns selected = selected_together(options.selections, workspace);
  const analysis::KnownNames names = known_names(workspace);
  names.check_across("--across", options.across, selected.runs, workspace.catalog());
  if (!options.metric.empty()) names.check_metric("--metric", options.metric);
  request.named = std::move(selected.named);
  const spec::Ranking ranking = analysis::rank_runs(selected.runs, request, workspace.catalog());
  return answer_with(ranking,
                     report::ranking_text(ranking),
                     workspace,
                     ranking.groups.empty() ? exit_inconclusive : exit_done);
}

}  // namespace

void setup_rank(OptionParser& app, Action& action) {
  auto [command, options] = add_command(
      app, action, "rank", "say which setting is best, and which are equal to it", run_rank);
  command
      .add_option("selection", options.selections, "the runs (id, study=..., recipe=..., tag=...)")
      ->required();
  command
      .add_option("--by",
                  options.by,
                  "what makes the groups: parameters, host, ... (the parameters that vary)")
      ->comma_separated();
  command.add_option("--metric",
                     options.metric,
                     "what decides (the recipe's first metric with a target or a direction)");
  command.add_option("--margin", options.margin, "groups whose means are within it count as equal")
      ->check(why_no_amount);
  command.add_option("--rules", options.rules, "a document with the rules of the ranking");
  command
      .add_option("--across",
                  options.across,
                  "rank although this differs within groups: recipe, data, a parameter's name")
      ->comma_separated();
}

}  // namespace sabath::cli
