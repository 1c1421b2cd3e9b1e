#include "code_elsewhere.hpp"
#include "determinism.hpp"

#include <sabath/app/compare_pair.hpp>
#include <sabath/app/explain_pair.hpp>
#include <sabath/app/run_files.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/spec/record_scope.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using Set = std::set<std::size_t>;

// ---- the search

std::vector<Set> split(const Set& all, std::size_t parts) {
  std::vector<Set> result(parts);
  std::size_t i = 0;
  for (const std::size_t change : all)
    result[i++ * parts / all.size()].insert(change);
  return result;
}

Set without(const Set& all, const Set& part) {
  Set rest;
  std::set_difference(
      all.begin(), all.end(), part.begin(), part.end(), std::inserter(rest, rest.end()));
  return rest;
}

/// Asks for one set after the other, for each once.
class Trials {
 public:
  explicit Trials(const Happens& happens) : happens_(happens) {}

  /// The first of these sets with which it happens; nothing: with none that can be tried.
  std::optional<Set> first_with(const std::vector<Set>& sets) {
    for (const Set& set : sets) {
      if (is_over_) break;
      auto known = known_.find(set);
      if (known == known_.end()) known = known_.emplace(set, happens_(set)).first;
      if (known->second == Happened::yes) return set;
      if (known->second == Happened::ended) is_over_ = true;
    }
    return std::nullopt;
  }
  bool is_over() const { return is_over_; }
  std::vector<Set> untried_in(const Set& changes) const {
    std::vector<Set> found;
    for (const auto& [set, happened] : known_) {
      if (happened == Happened::unknown && set.size() < changes.size() &&
          std::includes(changes.begin(), changes.end(), set.begin(), set.end()))
        found.push_back(set);
    }
    return found;
  }

 private:
  const Happens& happens_;
  std::map<Set, Happened> known_{};
  bool is_over_ = false;
};

// ---- what differs

/// A change, and how a request for A gets it from B.
struct Part {
  spec::Change change{};
  std::function<void(RunRequest& request)> apply{};
};

struct Sides {
  spec::RunRecord a{};
  spec::RunRecord b{};
  RunRequest request_a{};  ///< what does A again
  RunRequest request_b{};
};

void take_input(RunRequest& request, const RunRequest& from, const std::string& role) {
  const auto same = [&](const spec::PlannedInput& input) { return input.role == role; };
  const auto source = std::find_if(from.inputs.begin(), from.inputs.end(), same);
  const auto target = std::find_if(request.inputs.begin(), request.inputs.end(), same);
  if (source == from.inputs.end() || target == request.inputs.end()) return;
  *target = *source;
  request.recipe.datasets[role] = source->asset;
}

/// The recipe's document and folder. Data and values of parameters stay A's, defaults too; what
/// only B's recipe has a parameter for comes with it.
void take_code(RunRequest& request, const Sides& sides) {
  const RunRequest& from = sides.request_b;
  const spec::EnvironmentSpec environment = request.recipe.environment;
  const bool same_environment = environment == from.recipe.environment;
  const auto datasets = request.recipe.datasets;
  request.recipe = from.recipe;
  request.original = from.original;
  if (!same_environment) request.recipe.environment = environment;
  for (auto& [role, asset] : request.recipe.datasets) {
    if (const auto own = datasets.find(role); own != datasets.end()) asset = own->second;
  }
  std::erase_if(request.set, [&](const auto& value) {
    return request.recipe.parameter(value.first) == nullptr;
  });
  for (const auto* record : {&sides.a, &sides.b}) {
    for (const auto& [name, value] : record->parameters) {
      if (request.recipe.parameter(name) != nullptr)
        request.set.emplace(name, spec::to_string(value));
    }
  }
}

void take_environment(RunRequest& request, const RunRequest& from) {
  request.variant = from.variant;
  request.recipe.environment = from.recipe.environment;
}

/// A variable that chooses among ways to compute.
void take_variable(RunRequest& request, const RunRequest& from, const std::string& name) {
  if (!request.knobs || !from.knobs) return;
  const auto value = from.knobs->find(name);
  request.knobs->erase(name);
  if (value != from.knobs->end()) request.knobs->insert(*value);
}

/// Gathers what differs, each thing once.
class Parts {
 public:
  explicit Parts(const Sides& sides) : sides_(sides) {}

  void add(const spec::FacetDifference& difference) {
    const RunRequest& from = sides_.request_b;
    if (const std::string name = variable_of(difference); !name.empty()) {
      if (cannot_be_left_out(name)) return add_kept(name);
      return add_part("variable " + name, difference, [&from, name](RunRequest& request) {
        take_variable(request, from, name);
      });
    }
    if (difference.facet == "parameters") return add_parameter(difference);
    if (difference.facet == "seed" || is_seed(difference)) {
      return add_part(
          "seed", difference, [&from](RunRequest& request) { request.seed = from.seed; });
    }
    if (difference.facet == "data") {
      const std::string role = difference.item;
      return add_part("data " + role, difference, [&from, role](RunRequest& request) {
        take_input(request, from, role);
      });
    }
    if (difference.facet == "code" && spec::is_code_elsewhere(difference.item)) {
      impossible_.insert("code: " + difference.item + ": no run keeps what lies elsewhere");
      return;
    }
    if (difference.facet == "code" || difference.facet == "recipe") {
      return add_code(difference);
    }
    if (difference.facet == "environment") return add_environment(difference);
    if (difference.facet == "launch" && (difference.item == "cpus" || difference.item == "gpus")) {
      return add_part(
          "cores", difference, [&from](RunRequest& request) { request.place = from.place; });
    }
    add_impossible(difference);
  }

  void finish() {
    if (environment_) {
      impossible_.insert(fmt::format(
          "environment: {} ('{}' in A, '{}' in B): the recipes ask for the same one, it was built "
          "otherwise",
          environment_->item,
          environment_->a,
          environment_->b));
    }
  }

  const std::vector<Part>& parts() const { return parts_; }
  std::vector<std::string> impossible() const { return {impossible_.begin(), impossible_.end()}; }

 private:
  /// Its name, where a variable of the session is what differs.
  static std::string variable_of(const spec::FacetDifference& difference) {
    if (difference.facet == "variables") return difference.item;
    if (difference.facet != "determinism") return {};
    constexpr std::string_view seed = "seed.";
    const std::string& item = difference.item;
    const std::string name = item.starts_with(seed) ? item.substr(seed.size()) : item;
    return is_of_determinism(name) ? name : std::string();
  }

  /// B had none, and each run that is made here has this session's.
  bool cannot_be_left_out(const std::string& name) const {
    const auto& knobs = sides_.request_b.knobs;
    return stays_of_session(name) && knobs && !knobs->contains(name) &&
           base::current_environment().contains(name);
  }

  void add_kept(const std::string& name) {
    impossible_.insert(fmt::format(
        "variable {}: B had none, and runs that are made here get this session's: unset it first",
        name));
  }

  static bool is_seed(const spec::FacetDifference& difference) {
    return difference.facet == "determinism" &&
           (difference.item == "sample_order" || difference.item.starts_with("seed."));
  }

  bool has(const std::string& name) const {
    return std::any_of(
        parts_.begin(), parts_.end(), [&](const Part& part) { return part.change.name == name; });
  }

  void add_part(const std::string& name,
                const spec::FacetDifference& difference,
                std::function<void(RunRequest&)> apply) {
    if (has(name)) return;
    parts_.push_back({{name, difference.a, difference.b}, std::move(apply)});
  }

  void add_parameter(const spec::FacetDifference& difference) {
    const auto value = sides_.b.parameters.find(difference.item);
    if (value == sides_.b.parameters.end() || !sides_.a.parameters.contains(difference.item))
      return add_code(difference);  // a parameter of one recipe only
    const std::string name = difference.item;
    const std::string text = spec::to_string(value->second);
    add_part("parameter " + name, difference, [name, text](RunRequest& request) {
      request.set[name] = text;
    });
  }

  void add_code(const spec::FacetDifference& difference) {
    add_part("code", difference, [this](RunRequest& request) { take_code(request, sides_); });
  }

  void add_environment(const spec::FacetDifference& difference) {
    const RunRequest& from = sides_.request_b;
    const bool asked = sides_.request_a.variant != from.variant ||
                       !(sides_.request_a.recipe.environment == from.recipe.environment);
    if (asked) {
      return add_part("environment", difference, [&from](RunRequest& request) {
        take_environment(request, from);
      });
    }
    if (!environment_) environment_ = difference;
  }

  void add_impossible(const spec::FacetDifference& difference) {
    const std::string& facet = difference.facet;
    const char* const why =
        facet == "host"          ? "another machine cannot be made here"
        : facet == "launch"      ? "it is how the run was started"
        : facet == "packages"    ? "they are of a Python that no layer of the recipe makes"
        : facet == "libraries"   ? "what a run loads cannot be asked for"
        : facet == "determinism" ? "what a code does in its run cannot be asked for"
                                 : "no run can be asked for with that";
    impossible_.insert(facet + ": " + why);
  }

  const Sides& sides_;
  std::vector<Part> parts_{};
  std::set<std::string> impossible_{};
  std::optional<spec::FacetDifference> environment_{};
};

// ---- hybrids

/// As A and B are, so are A and what is made of both: code that is B's may bring or take
/// parameters.
compare::Options across_everything(compare::Options options) {
  options.across.merge(std::set<std::string>{"recipe", "data", "parameters"});
  return options;
}

class Hybrids {
 public:
  Hybrids(const ExplainRequest& request,
          const ExplainTools& tools,
          const Sides& sides,
          const std::vector<Part>& parts,
          base::Observer& observer,
          spec::Explanation& told)
      : request_(request),
        tools_(tools),
        sides_(sides),
        parts_(parts),
        observer_(observer),
        told_(told) {}

  /// Does A with these changes not agree with A?
  Happened differs(const Set& changes) {
    const auto known = known_.find(changes);
    if (known != known_.end()) return known->second;
    const Happened answer = make(changes, false);
    known_.emplace(changes, answer);
    return answer;
  }

  /// The same of one more run: does a run that is done again come out as before?
  Happened differs_once_more(const Set& changes) { return make(changes, true); }

  std::string words(const Set& changes) const {
    std::vector<std::string> names;
    for (const std::size_t change : changes)
      names.push_back(parts_[change].change.name);
    return names.empty() ? "A again" : fmt::format("A with B's {}", fmt::join(names, ", "));
  }

  /// Why the latest answer was neither yes nor no.
  const std::string& why_open() const { return why_open_; }

 private:
  /// The same for the same runs and changes: what an earlier call made is found by it.
  std::string tag(const Set& changes, bool once_more) const {
    std::string text = sides_.a.run_id + "\n" + sides_.b.run_id + "\n";
    for (const std::size_t change : changes)
      text += parts_[change].change.name + "\n";
    if (once_more) text += "\nonce more\n";
    return "hybrid-" + base::sha256_of(text).hex.substr(0, 16);
  }

  std::optional<MadeRun> made(const Set& changes, const std::string& tag, spec::Hybrid& hybrid) {
    if (auto found = tools_.find(tag)) {
      hybrid.reused = true;
      return found;
    }
    if (made_ >= request_.budget) {
      why_open_ = fmt::format("the budget of {} runs is spent", request_.budget);
      return std::nullopt;
    }
    if (!tools_.has_time()) {
      why_open_ = "the time is spent";
      return std::nullopt;
    }
    ++made_;
    observer_.note(fmt::format("run {} of at most {}: {}", made_, request_.budget, words(changes)));
    RunRequest request = sides_.request_a;
    for (const std::size_t change : changes)
      parts_[change].apply(request);
    request.tags = {"explain", tag};
    request.repeats.clear();
    request.offline = request_.offline;
    request.again = {"explain", sides_.a.run_id, sides_.b.run_id};
    return tools_.run(request);
  }

  void judge(const MadeRun& run, spec::Hybrid& hybrid) const {
    hybrid.run = run.directory.filename().string();
    hybrid.reason = run.problem;
    if (!run.problem.empty()) return;
    const spec::Comparison comparison =
        compare_pair(request_.a, run.directory, across_everything(request_.options));
    hybrid.verdict = comparison.result;
    hybrid.reason = comparison.reason;
  }

  Happened make(const Set& changes, bool once_more) {
    spec::Hybrid hybrid;
    for (const std::size_t change : changes)
      hybrid.changes.push_back(parts_[change].change.name);
    const auto run = made(changes, tag(changes, once_more), hybrid);
    if (!run) return Happened::ended;
    judge(*run, hybrid);
    told_.hybrids.push_back(hybrid);
    if (hybrid.verdict == spec::Verdict::pass) return Happened::no;
    if (hybrid.verdict == spec::Verdict::fail) return Happened::yes;
    why_open_ =
        fmt::format("{} {}: {}",
                    words(changes),
                    run->problem.empty() ? "is " + std::string(spec::to_string(hybrid.verdict))
                                         : "came to no good end",
                    hybrid.reason);
    return Happened::unknown;
  }

  const ExplainRequest& request_;
  const ExplainTools& tools_;
  const Sides& sides_;
  const std::vector<Part>& parts_;
  base::Observer& observer_;
  spec::Explanation& told_;
  std::map<Set, Happened> known_{};
  std::size_t made_ = 0;
  std::string why_open_{};
};

Sides read_sides(const ExplainRequest& request, const ExplainTools& tools) {
  Sides sides;
  const auto read = [&](const fs::path& run, const char* name, spec::RunRecord& record) {
    const fs::path folder = tools.work / name;
    base::make_directories(folder);
    RunRequest again = tools.again(run, folder);  // refuses what cannot be done again
    const RunFiles files(run);
    record = *files.read_record();
    return again;
  };
  sides.request_a = read(request.a, "a", sides.a);
  sides.request_b = read(request.b, "b", sides.b);
  return sides;
}

std::vector<std::string> names_of(const std::vector<Part>& parts, const Set& changes) {
  std::vector<std::string> names;
  for (const std::size_t change : changes)
    names.push_back(parts[change].change.name);
  return names;
}

bool is_open(Happened happened) {
  return happened == Happened::unknown || happened == Happened::ended;
}

/// A run that comes out now so and now so is no evidence.
bool is_confirmed(Hybrids& hybrids, const Set& changes, spec::Explanation& told) {
  for (const Set& once_more : {Set{}, changes}) {
    const Happened differs = hybrids.differs_once_more(once_more);
    const std::string words = hybrids.words(once_more);
    if (is_open(differs)) {
      told.reason = fmt::format(
          "{}; {} was not made once more, as the search wants", hybrids.why_open(), words);
      return false;
    }
    if ((differs == Happened::yes) == !once_more.empty()) continue;
    told.reason = fmt::format(
        "{} did not come out as before when it was made once more: what is not "
        "repeatable here has no cause among the changes",
        words);
    return false;
  }
  return true;
}

/// Nothing can be changed: is it that A is not repeatable?
void search_nothing(Hybrids& hybrids, spec::Explanation& told) {
  const Happened again = hybrids.differs({});
  if (is_open(again)) {
    told.reason = hybrids.why_open();
  } else if (again == Happened::yes) {
    told.reason = "A done again here does not agree with A: it is not repeatable here";
  } else if (told.impossible.empty()) {
    told.reason = "A done again agrees with A: they differ in something that is not recorded";
  } else {
    told.reason =
        "A done again agrees with A, and nothing in which they differ can be changed here";
  }
}

/// Is A as it was, and A with all of B's changes not? Else there is nothing to search in.
bool can_be_searched(Hybrids& hybrids, const Set& all, spec::Explanation& told) {
  const Happened again = hybrids.differs({});
  if (again != Happened::no) {
    told.reason = again == Happened::yes
                      ? "A done again here does not agree with A: the cause is none of what can "
                        "be changed here"
                      : hybrids.why_open();
    return false;
  }
  const Happened with_all = hybrids.differs(all);
  if (with_all == Happened::yes) return true;
  told.reason = with_all == Happened::no
                    ? "A with all of B's that can be made here agrees with A: the cause lies "
                      "in what cannot be made"
                    : hybrids.why_open();
  return false;
}

/// What was not tried, and why, as far as it is short.
std::string untried_text(const std::vector<Set>& untried, const Hybrids& hybrids) {
  constexpr std::size_t most = 3;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(untried.size(), most); ++i)
    texts.push_back(hybrids.words(untried[i]));
  std::string text = fmt::format("{}", fmt::join(texts, "; "));
  if (untried.size() > most) text += fmt::format("; {} more", untried.size() - most);
  return text;
}

void search(Hybrids& hybrids, const std::vector<Part>& parts, spec::Explanation& told) {
  Set all;
  for (std::size_t i = 0; i < parts.size(); ++i)
    all.insert(i);
  if (!can_be_searched(hybrids, all, told)) return;
  const SmallestChange found =
      smallest_change(parts.size(), [&](const Set& changes) { return hybrids.differs(changes); });
  const std::vector<std::string> names = names_of(parts, found.changes);
  if (!found.is_over) {
    told.reason =
        fmt::format("{}; the cause is among: {}", hybrids.why_open(), fmt::join(names, ", "));
    return;
  }
  if (!found.untried.empty()) {
    told.reason = fmt::format(
        "the cause is among: {}; less of it cannot be tried, since these came to no verdict: {}",
        fmt::join(names, ", "),
        untried_text(found.untried, hybrids));
    return;
  }
  if (!is_confirmed(hybrids, found.changes, told)) return;
  told.cause = names;
  told.reason = names.size() == 1
                    ? names.front() + " alone makes them differ"
                    : fmt::format("only together {} make them differ", fmt::join(names, ", "));
}

}  // namespace

SmallestChange smallest_change(std::size_t count, const Happens& happens) {
  SmallestChange found;
  for (std::size_t i = 0; i < count; ++i)
    found.changes.insert(i);
  Trials trials(happens);
  for (std::size_t parts = 2; found.changes.size() > 1;) {
    const std::vector<Set> pieces = split(found.changes, parts);
    if (const auto piece = trials.first_with(pieces)) {
      found.changes = *piece;
      parts = 2;
      continue;
    }
    std::vector<Set> rests;
    if (parts > 2) {  // of two halves each is the other's rest
      for (const Set& piece : pieces)
        rests.push_back(without(found.changes, piece));
    }
    const auto rest = trials.first_with(rests);
    found.is_over = !trials.is_over();
    if (!found.is_over) break;
    if (rest) {
      found.changes = *rest;
      parts = std::max<std::size_t>(parts - 1, 2);
    } else if (parts < found.changes.size()) {
      parts = std::min(2 * parts, found.changes.size());
    } else {
      break;
    }
  }
  found.untried = trials.untried_in(found.changes);
  return found;
}

spec::Explanation explain_pair(const ExplainRequest& request,
                               const ExplainTools& tools,
                               base::Observer& observer) {
  spec::Explanation told;
  const Sides sides = read_sides(request, tools);
  told.a = sides.a.run_id;
  told.b = sides.b.run_id;
  const spec::Comparison comparison =
      compare_pair(request.a, request.b, across_everything(request.options));
  told.verdict = comparison.result;
  told.verdict_reason = comparison.reason;
  Parts parts(sides);
  for (const spec::FacetDifference& difference : comparison.differences)
    parts.add(difference);
  parts.finish();
  for (const Part& part : parts.parts())
    told.changes.push_back(part.change);
  told.impossible = parts.impossible();
  if (comparison.result != spec::Verdict::fail) {
    told.reason = comparison.result == spec::Verdict::pass
                      ? "A and B agree: there is nothing to explain"
                      : "only runs that were found to differ can be explained";
    return told;
  }
  // All are held against A in one way, A done again too.
  ExplainRequest judged = request;
  judged.options.require = comparison.required;
  Hybrids hybrids(judged, tools, sides, parts.parts(), observer, told);
  if (parts.parts().empty()) {
    search_nothing(hybrids, told);
  } else {
    search(hybrids, parts.parts(), told);
  }
  return told;
}

}  // namespace sabath::app
