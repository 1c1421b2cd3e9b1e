#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/analysis/compare_pair.hpp>
#include <sabath/analysis/difference_courses.hpp>
#include <sabath/analysis/file_comparison.hpp>
#include <sabath/analysis/group_selection.hpp>
#include <sabath/analysis/rcp_sides.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/catalog/saved_selections.hpp>
#include <sabath/collect/number_text.hpp>
#include <sabath/home/baseline_files.hpp>
#include <sabath/report/text.hpp>

#include <array>
#include <cmath>
#include <filesystem>

namespace sabath::cli {
namespace {

using base::Error;
using base::ErrorKind;

struct CompareOptions {
  std::string a{};
  std::string b{};
  std::string require{};
  std::vector<std::string> across{};
  std::vector<std::string> by{};
  spec::Tolerance tolerance{};
  std::vector<std::string> margins{};
  std::string baseline{};
  std::string reference{};
  std::string envelope{};
  std::string rcp{};
  std::string better{};
  bool statistics = false;
  std::string as{};
};

/// Runs are not called like files that are there.
bool are_files(const CompareOptions& options) {
  std::error_code code;
  const bool a = std::filesystem::is_regular_file(options.a, code);
  const bool b = std::filesystem::is_regular_file(options.b, code);
  if (a && options.b.empty()) {
    throw usage_error("'" + base::printable(options.a) + "' is a file: two files are needed",
                      "such as 'sabath compare a.npy b.npy'");
  }
  if (a != b && !options.b.empty()) {
    const std::string& file = a ? options.a : options.b;
    const std::string& other = a ? options.b : options.a;
    throw Error(ErrorKind::not_found,
                "'" + base::printable(other) + "': no such file, but '" + base::printable(file) +
                    "' is a file");
  }
  return a && b;
}

int compare_two_files(const CompareOptions& options, Workspace& workspace) {
  if (!options.across.empty() || !options.by.empty() || options.statistics ||
      !options.margins.empty() ||
      !(options.reference + options.envelope + options.rcp + options.baseline + options.better)
           .empty()) {
    throw usage_error("two files take only the options --require, --as, --rtol and --atol");
  }
  analysis::FilesRequest request{options.a, options.b, options.as, {}, options.tolerance};
  if (!options.require.empty()) request.require = spec::parse_enum<spec::Rung>(options.require);
  const spec::Comparison comparison = analysis::compare_files(request);
  return answer_with(
      comparison, report::files_text(comparison), workspace, exit_status(comparison.result));
}

std::optional<compare::ReferenceSide> reference_of(const CompareOptions& options) {
  if (options.reference.empty()) return std::nullopt;
  return options.reference == "a" ? compare::ReferenceSide::a : compare::ReferenceSide::b;
}

/// Of "X" and "NAME=X".
void read_margin(const std::string& text, analysis::GroupsRequest& request) {
  const auto equals = text.rfind('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  const auto margin =
      collect::number_of(equals == std::string::npos ? text : text.substr(equals + 1));
  const bool is_amount = margin && std::isfinite(*margin) && *margin >= 0;
  if (!is_amount || (name.empty() && equals != std::string::npos)) {
    throw usage_error("--margin '" + base::printable(text) + "': is not a number of zero or more",
                      "such as '--margin 0.01' or '--margin loss=0.01'");
  }
  if (request.margins.emplace(name, *margin).second) return;
  throw usage_error(
      "--margin '" + base::printable(text) + "': a margin for the same metric is given already",
      "give one margin for each metric");
}

void read_margins(const CompareOptions& options, analysis::GroupsRequest& request) {
  for (const std::string& text : options.margins)
    read_margin(text, request);
  if (!options.baseline.empty()) {
    request.baseline = home::read_baseline(options.baseline);
    request.baseline_file = options.baseline;
  }
  if (options.require.empty() || (options.margins.empty() && options.baseline.empty())) return;
  const std::string other = options.margins.empty() ? "--baseline" : "--margin";
  throw usage_error(
      "--require and " + other + ": cannot be used together",
      "--require judges all runs by one rung; " + other + " judges the means of groups");
}

analysis::GroupsRequest groups_request(const CompareOptions& options, analysis::NamedRuns named) {
  analysis::GroupsRequest request;
  read_margins(options, request);
  request.by = options.by;
  request.across = {options.across.begin(), options.across.end()};
  if (!options.require.empty()) request.require = spec::parse_enum<spec::Rung>(options.require);
  request.tolerance = options.tolerance;
  request.reference = reference_of(options);
  request.better = options.better;
  request.named = std::move(named);
  return request;
}

/// A metric's own name may have a comma and a sign of equality; one that is unknown is a list.
void check_margin(const std::string& metric, const analysis::KnownNames& names) {
  try {
    names.check_metric("--margin", metric);
  } catch (const Error& error) {
    const auto comma = metric.find(',');
    if (comma == std::string::npos || metric.find('=') > comma) throw;
    throw usage_error(error.what(),
                      "one --margin for each metric: --margin " +
                          base::printable(metric.substr(0, comma)) + " --margin " +
                          base::printable(metric.substr(comma + 1)) + "=X");
  }
}

/// Before anything is read of the runs: what they are not comparable for would hide a wrong name.
void check_names(const CompareOptions& options,
                 const std::vector<catalog::RunRow>& runs,
                 Workspace& workspace) {
  const analysis::KnownNames names = known_names(workspace);
  names.check_across("--across", options.across, runs, workspace.catalog());
  if (!options.better.empty()) names.check_metric("--better", options.better);
  analysis::GroupsRequest asked;
  for (const std::string& text : options.margins)
    read_margin(text, asked);
  for (const auto& [metric, margin] : asked.margins) {
    if (!metric.empty()) check_margin(metric, names);
  }
}

int answer(const spec::GroupComparison& comparison, bool statistics, Workspace& workspace) {
  return answer_with(comparison,
                     report::groups_text(comparison, statistics),
                     workspace,
                     exit_status(comparison.result));
}

/// What is said of B and A, and of many runs a side.
void refuse_options_of_sides(const CompareOptions& options) {
  const char* option = !options.better.empty()      ? "--better"
                       : !options.rcp.empty()       ? "--rcp"
                       : !options.envelope.empty()  ? "--envelope"
                       : !options.reference.empty() ? "--reference"
                       : options.statistics         ? "--statistics"
                                                    : nullptr;
  if (option == nullptr) return;
  throw usage_error(std::string(option) + ": compares two sides, but only one selection is given");
}

/// One selection: groups, or its spread.
int compare_selection(const CompareOptions& options, Workspace& workspace) {
  if (!options.b.empty()) {
    throw usage_error("--by groups the runs of one selection, but two are given",
                      "such as 'sabath compare recipe=NAME --by host'");
  }
  refuse_options_of_sides(options);
  SelectedRuns selected = selected_together({options.a}, workspace);
  check_names(options, selected.runs, workspace);
  const analysis::GroupsRequest request = groups_request(options, std::move(selected.named));
  return answer(
      analysis::compare_groups(selected.runs, request, workspace.catalog()), false, workspace);
}

/// With --rcp that is what RESULT is about; where means lie is shown besides.
void judge_by_rcp(spec::GroupComparison& comparison) {
  const spec::RcpFinding& rcp = *comparison.rcp;
  const bool seeds = rcp.verdict != spec::Verdict::fail && rcp.seeds != spec::Verdict::pass;
  comparison.result = seeds ? rcp.seeds : rcp.verdict;
  comparison.reason = seeds ? "seeds: " + rcp.seeds_reason : rcp.metric + ": " + rcp.reason;
}

int compare_sides(const CompareOptions& options,
                  const std::vector<catalog::RunRow>& a,
                  const std::vector<catalog::RunRow>& b,
                  analysis::NamedRuns named,
                  Workspace& workspace) {
  if (!options.envelope.empty()) {
    throw usage_error("--envelope: compares one run with another, but the sides have " +
                      std::to_string(a.size()) + " and " + std::to_string(b.size()));
  }
  analysis::GroupsRequest request = groups_request(options, std::move(named));
  const std::optional<std::string> batch =
      options.rcp.empty() ? std::nullopt : analysis::batch_parameter_of(a);
  if (batch) request.across.insert(*batch);  // the points of reference are by batch size
  spec::GroupComparison comparison = analysis::compare_sides(a, b, request, workspace.catalog());
  comparison.a = options.a;
  comparison.b = options.b;
  if (!options.rcp.empty() && comparison.result != spec::Verdict::not_comparable) {
    const auto reading =
        options.rcp == "code" ? compare::RcpReading::code : compare::RcpReading::policy;
    const catalog::Catalog& catalog = workspace.catalog();
    comparison.rcp = analysis::rcp_of_sides(analysis::runs_to_judge(a, request, catalog),
                                            analysis::runs_to_judge(b, request, catalog),
                                            reading);
    judge_by_rcp(comparison);
  }
  return answer(comparison, options.statistics, workspace);
}

/// --better asks one question of two sides: what answers another one is refused.
void refuse_options_of_better(const CompareOptions& options) {
  if (options.better.empty()) return;
  const std::array<std::pair<bool, const char*>, 8> others{
      {{!options.by.empty(), "--by"},
       {!options.require.empty(), "--require"},
       {!options.margins.empty(), "--margin"},
       {!options.baseline.empty(), "--baseline"},
       {!options.reference.empty(), "--reference"},
       {!options.envelope.empty(), "--envelope"},
       {!options.rcp.empty(), "--rcp"},
       {options.statistics, "--statistics"}}};
  for (const auto& [is_given, option] : others) {
    if (!is_given) continue;
    throw usage_error(std::string("--better and ") + option + ": cannot be used together",
                      "--better asks whether B is better than A, without a margin or a rung");
  }
}

/// What two single runs are not: two groups, or two runs.
void refuse_for_a_pair(const CompareOptions& options,
                       const catalog::RunRow& a,
                       const catalog::RunRow& b) {
  if (a.id == b.id) throw usage_error(a.id + ": is on both sides", "name two different runs");
  const char* option = options.statistics          ? "--statistics"
                       : !options.margins.empty()  ? "--margin"
                       : !options.baseline.empty() ? "--baseline"
                                                   : nullptr;
  if (option == nullptr) return;
  throw usage_error(std::string(option) + ": compares groups, but each side has only one run");
}

/// "@previous" is A from now on. Warns if the home cannot be written: the comparison stands.
void keep_as_previous(const std::string& run_id, Workspace& workspace) {
  try {
    catalog::keep_previous(workspace.folders().home, run_id);
  } catch (const Error& error) {
    workspace.observer().warn(std::string("@previous is not kept: ") + error.what());
  }
}

int compare_two(const CompareOptions& options,
                const catalog::RunRow& a,
                const catalog::RunRow& b,
                Workspace& workspace) {
  refuse_for_a_pair(options, a, b);
  compare::Options how;
  if (!options.require.empty()) how.require = spec::parse_enum<spec::Rung>(options.require);
  how.across = {options.across.begin(), options.across.end()};
  how.tolerance = options.tolerance;
  how.reference = reference_of(options);
  std::vector<std::filesystem::path> reruns;
  if (!options.envelope.empty()) {
    for (const catalog::RunRow& run : selected_runs(options.envelope, workspace)) {
      if (run.id != a.id && run.id != b.id) reruns.emplace_back(run.directory);
    }
    if (reruns.empty()) throw usage_error("--envelope: needs a run beside A and B");
  }
  const spec::Comparison comparison = analysis::compare_pair(a.directory, b.directory, how, reruns);
  keep_as_previous(a.id, workspace);
  workspace.answer(workspace.json() ? json_answer(comparison)
                                    : report::comparison_text(
                                          comparison,
                                          report::difference_text(analysis::difference_courses(
                                                                      a.directory, b.directory),
                                                                  report::letters_of_locale())));
  return exit_status(comparison.result);
}

/// A word that names neither runs nor a file.
void check_word(const std::string& word, Workspace& workspace) {
  if (word.empty() || names_a_run(word)) return;
  try {
    runs_if_any(word, workspace);
  } catch (const Error& error) {
    std::error_code code;
    if (error.kind() == ErrorKind::not_found && std::filesystem::is_directory(word, code)) {
      throw Error(ErrorKind::not_found,
                  "'" + base::printable(word) + "': is a folder",
                  "compare two files of it, or two runs");
    }
    refuse_word(word, "file or run", error);
  }
}

int run_compare(const CompareOptions& options, Workspace& workspace) {
  refuse_options_of_better(options);
  if (are_files(options)) return compare_two_files(options, workspace);
  if (!options.as.empty()) {
    throw usage_error("--as is for two files, and '" + base::printable(options.a) + "' and '" +
                          base::printable(options.b) + "' are not",
                      "a run's recipe names the format of its outputs in 'compare'");
  }
  check_word(options.a, workspace);
  check_word(options.b, workspace);
  if (!options.by.empty() || options.b.empty()) return compare_selection(options, workspace);
  SelectedRuns selected = selected_together({options.a}, workspace);
  const std::vector<catalog::RunRow>& a = selected.runs;
  const auto b = selected_runs(options.b, workspace);
  selected.named.add_selection(options.b, b, workspace.catalog());
  auto all = a;
  all.insert(all.end(), b.begin(), b.end());
  check_names(options, all, workspace);
  if (a.size() == 1 && b.size() == 1 && options.rcp.empty() && options.better.empty())
    return compare_two(options, a.front(), b.front(), workspace);
  return compare_sides(options, a, b, selected.named, workspace);
}

}  // namespace

void setup_compare(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app,
                  action,
                  "compare",
                  "say whether two runs, groups of runs, or two files agree, and where not",
                  run_compare);
  command
      .add_option("a",
                  options.a,
                  "a run (id, unique prefix, @last), a selection of many, or a file of arrays")
      ->required();
  command.add_option("b", options.b, "another run, another selection, or another file");
  add_rung(command, options.require);
  command
      .add_option("--across",
                  options.across,
                  "compare although this differs: recipe, data, parameters, or a parameter's name")
      ->comma_separated();
  command.add_option("--by", options.by, "group the runs of a selection by this: host, seed, ...")
      ->comma_separated();
  add_tolerances(command, options.tolerance);
  command
      .add_option("--margin",
                  options.margins,
                  "[NAME=]X: groups whose means are within X of one another count as equal")
      ->one_each();
  command.add_option("--baseline",
                     options.baseline,
                     "a file whose accepted margins count where the recipe has none");
  command
      .add_option("--reference",
                  options.reference,
                  "a or b: which side the other is held against; without it they are peers")
      ->one_of({"a", "b"});
  command.add_option("--envelope",
                     options.envelope,
                     "a selection of perturbed reruns of one run, by which the other is judged");
  command
      .add_option(
          "--rcp", options.rcp, "code or policy: MLPerf's reference convergence points, of A for B")
      ->one_of({"code", "policy"});
  command.add_option(
      "--better", options.better, "a metric: is B better than A by it? Parameters may differ");
  command.add_flag(
      "--statistics", options.statistics, "of two selections: what all tests say, for each metric");
  command.add_option(
      "--as", options.as, "format of the two files: hdf5, npy, csv, ..., raw:TYPE[:big]");
}

}  // namespace sabath::cli
