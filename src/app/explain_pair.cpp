#include "candidate_changes.hpp"
#include "sufficient_sets.hpp"

#include <sabath/analysis/again_differences.hpp>
#include <sabath/analysis/compare_pair.hpp>
#include <sabath/app/explain_pair.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/session_variables.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;

/// Hybrids differ from A as B does: code of B may add or remove parameters.
compare::Options across_everything(compare::Options options) {
  options.across.merge(std::set<std::string>{"recipe", "data", "parameters"});
  return options;
}

/// Makes runs of A with some of B's changes, or finds those that an earlier call made.
class Hybrids {
 public:
  Hybrids(const ExplainRequest& request,
          const ExplainTools& tools,
          const RunPair& pair,
          const CandidateChanges& candidates,
          base::Observer& observer,
          spec::Explanation& explanation)
      : request_(request),
        tools_(tools),
        pair_(pair),
        candidates_(candidates),
        observer_(observer),
        explanation_(explanation) {}

  Outcome outcome(const ChangeSet& changes, bool once_more) {
    spec::Hybrid hybrid;
    hybrid.changes = names(changes);
    const auto run = make(changes, once_more, hybrid);
    if (!run) return Outcome::not_made;
    const auto differences = judge(*run, hybrid);
    if (changes.none() && hybrid.verdict != spec::Verdict::pass) note_apart(*run, differences);
    explanation_.hybrids.push_back(hybrid);
    if (hybrid.verdict == spec::Verdict::pass) return Outcome::agrees;
    if (hybrid.verdict == spec::Verdict::fail) return Outcome::differs;
    why_open_ = fmt::format("{}: {}", words(changes), hybrid.reason);
    const bool is_failed = !run->problem.empty() && !run->directory.empty();
    return is_failed ? Outcome::failed : Outcome::unresolved;
  }

  spec::ChangeNames names(const ChangeSet& changes) const {
    spec::ChangeNames names;
    for (auto i = changes.find_first(); i != ChangeSet::npos; i = changes.find_next(i))
      names.push_back(candidates_.changes[i].change.name);
    return names;
  }
  std::vector<spec::ChangeNames> names(const std::vector<ChangeSet>& sets) const {
    std::vector<spec::ChangeNames> found;
    for (const ChangeSet& set : sets)
      found.push_back(names(set));
    return found;
  }
  /// Says that A done again does not agree with A, and why; `unknown` where no difference is known.
  std::string again_differs(const std::string& unknown) const {
    const std::string text = "A done again here does not agree with A";
    const std::string session = session_hint();
    if (!apart_.empty()) return text + ": " + apart_ + session;
    return text + (session.empty() ? ": " + unknown : session);
  }
  /// Says why A done again has no result.
  std::string again_open() const {
    return why_open_ + (apart_.empty() ? "" : "; since A was made: " + apart_);
  }
  std::string words(const ChangeSet& changes) const {
    if (changes.none()) return "A again";
    return fmt::format("A with B's {}", fmt::join(names(changes), ", "));
  }

  /// Says why the latest outcome was open.
  const std::string& why_open() const { return why_open_; }

  /// Returns the seconds of a run: the median of those that were made, else what A took.
  double seconds_of_a_run() const {
    if (seconds_.empty()) return pair_.a.wall_s;
    std::vector<double> sorted = seconds_;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }

 private:
  /// Returns the tag by which a later call finds the run of these changes. A run of a session that
  /// lacks a value of A's has another one.
  std::string tag(const spec::ChangeNames& names, bool once_more) const {
    std::string text = pair_.a.run_id + "\n" + pair_.b.run_id + "\n";
    for (const std::string& name : names)
      text += name + "\n";
    for (const auto& [variable, digest] : candidates_.not_as_in_a)
      text += "\nvariable " + variable + " " + digest + "\n";
    if (once_more) text += "\nonce more\n";
    return "hybrid-" + base::sha256_of(text).hex.substr(0, 16);
  }

  std::optional<MadeRun> make(const ChangeSet& changes, bool once_more, spec::Hybrid& hybrid) {
    const std::string name = tag(hybrid.changes, once_more);
    if (auto found = tools_.find(name)) {
      hybrid.reused = true;
      return found;
    }
    if (made_ >= request_.budget) {
      why_open_ = fmt::format("the budget of {} is spent", base::counted(request_.budget, "run"));
      return std::nullopt;
    }
    if (!tools_.has_time()) {
      why_open_ = "the time is spent";
      return std::nullopt;
    }
    ++made_;
    observer_.note(fmt::format("run {} of at most {}: {}", made_, request_.budget, words(changes)));
    planning::RunRequest request = pair_.request_a;
    request.placement.left_out = candidates_.left_out;
    for (auto i = changes.find_first(); i != ChangeSet::npos; i = changes.find_next(i))
      candidates_.changes[i].apply(request);
    request.tags = {"explain", name};
    request.repetition.run_id.clear();
    request.offline = request_.offline;
    request.again = {"explain", pair_.a.run_id, pair_.b.run_id};
    return tools_.run(request);
  }

  /// Returns "; PATH, X: not as A had them ...", or an empty text.
  std::string session_hint() const {
    if (candidates_.not_as_in_a.empty()) return {};
    std::vector<std::string> names;
    for (const auto& [name, digest] : candidates_.not_as_in_a)
      names.push_back(base::printable(name));
    return fmt::format(
        "; this session does not have the value that A had of {}: set it, and "
        "repeat the command",
        fmt::join(names, ", "));
  }

  /// `differences`: of A done again from A. Leaves out those that the session's hint names.
  void note_apart(const MadeRun& run, std::vector<spec::FacetDifference> differences) {
    std::erase_if(differences, [&](const spec::FacetDifference& one) {
      return one.facet == spec::session_facet &&
             std::ranges::any_of(candidates_.not_as_in_a, [&](const auto& named) {
               return base::printable(named.first) == one.item;
             });
    });
    const auto record =
        run.directory.empty() ? std::nullopt : home::RunFiles(run.directory).read_record();
    apart_ = analysis::again_differences(pair_.a, record.value_or(spec::RunRecord()), differences);
  }

  /// Returns what differs between A and the run.
  std::vector<spec::FacetDifference> judge(const MadeRun& run, spec::Hybrid& hybrid) {
    hybrid.run = run.directory.filename().string();
    hybrid.reason = run.problem;
    if (!run.problem.empty()) return {};
    const compare::Options options = across_everything(request_.options);
    const spec::Comparison comparison = analysis::compare_pair(request_.a, run.directory, options);
    hybrid.verdict = comparison.result;
    hybrid.reason = comparison.reason;
    hybrid.against_b = analysis::compare_pair(request_.b, run.directory, options).result;
    if (const auto record = home::RunFiles(run.directory).read_record())
      seconds_.push_back(record->wall_s);
    return comparison.differences;
  }

  const ExplainRequest& request_;
  const ExplainTools& tools_;
  const RunPair& pair_;
  const CandidateChanges& candidates_;
  base::Observer& observer_;
  spec::Explanation& explanation_;
  std::vector<double> seconds_{};
  std::size_t made_ = 0;
  std::string why_open_{};
  std::string apart_{};  ///< what differs between A and A done again, in words
};

/// Returns why runs of two recipes are not explained: a hybrid would be a run of neither.
std::string why_of_two_recipes(const ExplainRequest& request) {
  const auto a = home::RunFiles(request.a).read_record();
  const auto b = home::RunFiles(request.b).read_record();
  if (!a || !b || a->recipe_name == b->recipe_name) return {};
  return fmt::format("recipe name differs ('{}' in A, '{}' in B): name two runs of one recipe",
                     a->recipe_name,
                     b->recipe_name);
}

RunPair read_pair(const ExplainRequest& request, const ExplainTools& tools) {
  RunPair pair;
  const auto read = [&](const fs::path& run, const char* name, spec::RunRecord& record) {
    const fs::path folder = tools.work / name;
    base::make_directories(folder);
    planning::RunRequest again = tools.again(run, folder);  // refuses what cannot be done again
    record = *home::RunFiles(run).read_record();
    return again;
  };
  pair.request_a = read(request.a, "a", pair.a);
  pair.request_b = read(request.b, "b", pair.b);
  pair.state_directory = tools.state_directory;
  return pair;
}

/// Without changes the question is whether A is repeatable.
void explain_without_changes(Hybrids& hybrids, spec::Explanation& explanation) {
  const Outcome again = hybrids.outcome(ChangeSet(), false);
  if (again == Outcome::differs) {
    explanation.reason = hybrids.again_differs(
        "nothing that is recorded differs: it is not repeatable here, or something else has "
        "changed");
  } else if (again != Outcome::agrees) {
    explanation.reason = hybrids.again_open();
  } else if (explanation.impossible.empty()) {
    explanation.reason =
        "A done again agrees with A: they differ in something that is not recorded";
  } else {
    explanation.reason =
        "A done again agrees with A, and nothing in which they differ can be changed here";
  }
}

/// Returns each set in words: "parameter x, parameter y; seed"
std::string text_of(const std::vector<spec::ChangeNames>& sets) {
  constexpr std::size_t most = 3;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(sets.size(), most); ++i)
    texts.push_back(fmt::format("{}", fmt::join(sets[i], ", ")));
  std::string text = fmt::format("{}", fmt::join(texts, "; "));
  if (sets.size() > most) text += fmt::format("; {} more", sets.size() - most);
  return text;
}

std::string complete_reason(const spec::Explanation& explanation) {
  std::vector<spec::ChangeNames> sets;
  for (const spec::SufficientChanges& sufficient : explanation.sufficient)
    sets.push_back(sufficient.changes);
  const std::string text = text_of(sets);
  std::string reason =
      sets.size() > 1 ? fmt::format("{} sets of changes are each sufficient: {}", sets.size(), text)
      : sets.front().size() > 1 ? fmt::format("only together {} make them differ", text)
                                : text + " alone makes them differ";
  if (!explanation.assumed.empty()) return reason + ", if no change masks another";
  if (!explanation.failed.empty()) {
    reason += fmt::format("; A failed with {}: whether that is sufficient is unknown",
                          text_of(explanation.failed));
  }
  return reason;
}

/// Says why the known sets may not be all minimal sufficient sets.
std::string incomplete_reason(const SufficientSets& found,
                              const spec::Explanation& explanation,
                              const Hybrids& hybrids) {
  if (found.end == SearchEnd::spent) {
    return fmt::format("{}: {}",
                       hybrids.why_open(),
                       found.is_complete_if_monotone
                           ? "if no change masks another, these are all that are sufficient"
                           : "other sets of changes may be sufficient, too");
  }
  std::vector<spec::ChangeNames> open = explanation.unresolved;
  open.insert(open.end(), explanation.failed.begin(), explanation.failed.end());
  if (open.empty()) {
    return fmt::format(
        "a change masks another ({}), against --assume-monotone: repeat the command "
        "without it",
        text_of(explanation.masking));
  }
  return fmt::format("whether these are sufficient is open, they have no result: {}",
                     text_of(open));
}

std::string reason_of(const SufficientSets& found,
                      const spec::Explanation& explanation,
                      const Hybrids& hybrids) {
  switch (found.end) {
    case SearchEnd::a_differs:
      return hybrids.again_differs("none of what can be changed here explains that");
    case SearchEnd::all_agree:
      return "A with all of B's changes that can be made here agrees with A: the difference comes "
             "from what cannot be made";
    case SearchEnd::a_unresolved:
      return hybrids.again_open();
    case SearchEnd::all_unresolved:
      return hybrids.why_open();
    case SearchEnd::not_repeatable:
      return hybrids.words(found.unstable) +
             " did not come out as before when it was made once more: no changes explain what is "
             "not repeatable";
    default:
      return explanation.complete ? complete_reason(explanation)
                                  : incomplete_reason(found, explanation, hybrids);
  }
}

/// A failed set may be sufficient too: then only changes in it are necessary. A complete search in
/// which no change masks another excludes that.
bool is_necessary_known(const SufficientSets& found, bool is_monotone) {
  if (is_monotone) return true;
  return std::ranges::all_of(
      found.failed, [&](const ChangeSet& failed) { return found.necessary.is_subset_of(failed); });
}

void explain_changes(const ExplainRequest& request,
                     std::size_t count,
                     Hybrids& hybrids,
                     spec::Explanation& explanation) {
  const Oracle oracle{[&](const ChangeSet& set) { return hybrids.outcome(set, false); },
                      [&](const ChangeSet& set) { return hybrids.outcome(set, true); }};
  SearchOptions options;
  options.assume_monotone = request.assume_monotone;
  const SufficientSets found = find_sufficient_sets(count, oracle, options);
  for (const SufficientSet& set : found.sets)
    explanation.sufficient.push_back(
        {hybrids.names(set.changes), set.is_minimal, set.is_confirmed});
  explanation.complete = found.is_complete;
  if (request.assume_monotone) explanation.assumed = "monotone";
  explanation.masking = hybrids.names(found.masking);
  explanation.failed = hybrids.names(found.failed);
  if (is_necessary_known(found, request.assume_monotone)) {
    explanation.necessary = hybrids.names(found.necessary);
  } else {
    explanation.necessary.reset();
    explanation.maybe_necessary = hybrids.names(found.necessary);
  }
  explanation.unresolved = hybrids.names(found.unresolved);
  explanation.untried.sets = found.untried_count;
  explanation.untried.smallest = hybrids.names(found.untried);
  explanation.untried.runs = found.runs_left;
  explanation.untried.most_runs = found.most_runs_left;
  if (found.runs_left > 0)
    explanation.untried.seconds = static_cast<double>(found.runs_left) * hybrids.seconds_of_a_run();
  if (found.is_complete && found.sets.size() == 1)
    explanation.cause = explanation.sufficient.front().changes;
  explanation.reason = reason_of(found, explanation, hybrids);
}

}  // namespace

spec::Explanation explain_pair(const ExplainRequest& request,
                               const ExplainTools& tools,
                               base::Observer& observer) {
  spec::Explanation explanation;
  explanation.verdict_reason = why_of_two_recipes(request);
  if (!explanation.verdict_reason.empty()) {
    explanation.a = request.a.filename().string();
    explanation.b = request.b.filename().string();
    explanation.verdict = spec::Verdict::not_comparable;
    explanation.reason = "only runs that can be compared can be explained";
    return explanation;
  }
  const RunPair pair = read_pair(request, tools);
  explanation.a = pair.a.run_id;
  explanation.b = pair.b.run_id;
  const spec::Comparison comparison =
      analysis::compare_pair(request.a, request.b, across_everything(request.options));
  explanation.verdict = comparison.result;
  explanation.verdict_reason = comparison.reason;
  const CandidateChanges candidates = candidate_changes(comparison.differences, pair);
  for (const CandidateChange& candidate : candidates.changes)
    explanation.changes.push_back(candidate.change);
  explanation.impossible = candidates.impossible;
  if (comparison.result != spec::Verdict::fail) {
    explanation.reason = comparison.result == spec::Verdict::pass
                             ? "A and B agree: there is nothing to explain"
                             : "only runs that were found to differ can be explained";
    return explanation;
  }
  // Compares all runs with A in one way, A done again too.
  ExplainRequest judged = request;
  judged.options.require = comparison.required;
  Hybrids hybrids(judged, tools, pair, candidates, observer, explanation);
  if (candidates.changes.empty()) {
    explain_without_changes(hybrids, explanation);
  } else {
    explain_changes(request, candidates.changes.size(), hybrids, explanation);
  }
  return explanation;
}

}  // namespace sabath::app
