#include "candidate_changes.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/execution/session_digests.hpp>
#include <sabath/home/tuning_variables.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/session_variables.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sabath::app {
namespace {

bool has_input(const planning::RunRequest& request, const std::string& role) {
  const auto& inputs = request.repetition.inputs;
  return std::ranges::find(inputs, role, &spec::PlannedInput::role) != inputs.end();
}

void take_input(planning::RunRequest& request,
                const planning::RunRequest& from,
                const std::string& role) {
  const auto source = std::ranges::find(from.repetition.inputs, role, &spec::PlannedInput::role);
  const auto target = std::ranges::find(request.repetition.inputs, role, &spec::PlannedInput::role);
  if (source == from.repetition.inputs.end() || target == request.repetition.inputs.end()) return;
  *target = *source;
  request.recipe.datasets[role] = {{source->asset, {}}};
}

/// Takes the recipe's document and folder. Data and values of parameters stay A's, defaults too,
/// and so does the lock. A parameter of B's recipe alone comes with it.
void take_code(planning::RunRequest& request, const RunPair& pair) {
  const planning::RunRequest& from = pair.request_b;
  const spec::EnvironmentSpec environment =
      request.recipe.environment.locked_in(request.recipe.directory);
  const auto datasets = request.recipe.datasets_for(pair.a.parameters);
  request.recipe = from.recipe;
  request.repetition.original = from.repetition.original;
  request.recipe.environment = environment;
  if (request.repetition.environment_of.empty() && !environment.layers.empty())
    request.repetition.environment_of = pair.a.run_id;
  for (auto& [role, choices] : request.recipe.datasets) {
    if (const auto own = datasets.find(role); own != datasets.end()) choices = {{own->second, {}}};
  }
  std::erase_if(request.set, [&](const auto& value) {
    return request.recipe.parameter(value.first) == nullptr;
  });
  for (const auto* record : {&pair.a, &pair.b}) {
    for (const auto& [name, value] : record->parameters) {
      if (request.recipe.parameter(name) != nullptr)
        request.set.emplace(name, spec::to_string(value));
    }
  }
}

void take_variable(planning::RunRequest& request,
                   const planning::RunRequest& from,
                   const std::string& name) {
  auto& variables = request.placement.variables;
  const auto& others = from.placement.variables;
  if (!variables || !others) return;
  const auto value = others->find(name);
  variables->erase(name);
  if (value != others->end()) variables->insert(*value);
}

class Builder {
 public:
  explicit Builder(const RunPair& pair) : pair_(pair) {}

  void add(const spec::FacetDifference& difference) {
    const std::string& facet = difference.facet;
    const std::string& item = difference.item;
    const planning::RunRequest& from = pair_.request_b;
    if (const std::string name = variable_of(difference); !name.empty()) {
      add_variable(name, difference);
    } else if (facet == "parameters") {
      add_parameter(difference);
    } else if (is_seed(difference)) {
      add_change("seed", difference, [&from](auto& request) { request.seed = from.seed; });
    } else if (facet == "data") {
      add_data(difference);
    } else if (facet == "code" && spec::is_external_code(item)) {
      impossible_.insert("code: " + item + ": no run keeps what lies elsewhere");
    } else if (facet == "code" || facet == "recipe") {
      add_whole_code(difference);
    } else if (facet == "environment") {
      add_environment(difference);
    } else if (facet == "launch" && (item == "cpus" || item == "gpus")) {
      add_change("cores", difference, [&from](auto& request) {
        request.placement.slots = from.placement.slots;
      });
    } else if (facet == spec::session_facet) {
      add_session_variable(difference);
    } else if (facet == spec::opened_facet) {
      impossible_.insert("file " + item +
                         ": not tried: it was not kept; bring it back and run A again");
    } else {
      impossible_.insert(facet + ": " + why_impossible(facet));
    }
  }

  CandidateChanges take() {
    if (environment_) {
      impossible_.insert(fmt::format(
          "environment: {} ('{}' in A, '{}' in B): the recipes ask for the same one, it was built "
          "otherwise",
          environment_->item,
          environment_->a,
          environment_->b));
    }
    return {std::move(changes_),
            {impossible_.begin(), impossible_.end()},
            std::move(left_out_),
            std::move(not_as_in_a_)};
  }

 private:
  void add_change(const std::string& name,
                  const spec::FacetDifference& difference,
                  std::function<void(planning::RunRequest&)> apply) {
    const bool is_known =
        std::ranges::any_of(changes_, [&](const auto& known) { return known.change.name == name; });
    if (!is_known) changes_.push_back({{name, difference.a, difference.b}, std::move(apply)});
  }

  /// Returns the name of a variable of the session that differs; empty for other differences.
  static std::string variable_of(const spec::FacetDifference& difference) {
    if (difference.facet == "variables") return difference.item;
    if (difference.facet != "determinism") return {};
    constexpr std::string_view seed = "seed.";
    const std::string& item = difference.item;
    const std::string name = item.starts_with(seed) ? item.substr(seed.size()) : item;
    return home::is_of_determinism(name) ? name : std::string();
  }

  /// Whether the run had a value that its repetition does not get: of a node's record, or masked.
  static bool is_lost(const spec::RunRecord& record,
                      const planning::RunRequest& request,
                      const std::string& name) {
    const auto& variables = request.placement.variables;
    if (!variables || variables->contains(name)) return false;
    const spec::Facet* const known = record.facet("variables");
    if (known != nullptr && known->items.contains(name)) return true;
    return record.determinism &&
           (record.determinism->switches.contains(name) ||
            record.determinism->threads.contains(name) || record.determinism->seeds.contains(name));
  }

  /// B lacked it, and each run that is made here has that of this session.
  bool cannot_be_left_out(const std::string& name) const {
    const auto& variables = pair_.request_b.placement.variables;
    return home::stays_of_session(name) && variables && !variables->contains(name) &&
           base::current_environment().contains(name);
  }

  void add_variable(const std::string& name, const spec::FacetDifference& difference) {
    if (cannot_be_left_out(name)) {
      impossible_.insert(fmt::format(
          "variable {}: B had none, and runs that are made here get this session's: unset it first",
          name));
      return;
    }
    const bool is_of_b = is_lost(pair_.b, pair_.request_b, name);
    if (is_of_b || is_lost(pair_.a, pair_.request_a, name)) {
      impossible_.insert(fmt::format(
          "variable {}: not tried: {}'s value is not set here, since its record came from a node, "
          "or has it not as it was",
          name,
          is_of_b ? 'B' : 'A'));
      return;
    }
    add_change("variable " + name, difference, [this_pair = &pair_, name](auto& request) {
      take_variable(request, this_pair->request_b, name);
    });
  }

  void add_parameter(const spec::FacetDifference& difference) {
    const std::string name = difference.item;
    const auto value = pair_.b.parameters.find(name);
    if (value == pair_.b.parameters.end() || !pair_.a.parameters.contains(name))
      return add_whole_code(difference);  // a parameter of one recipe only
    const std::string text = spec::to_string(value->second);
    add_change(
        "parameter " + name, difference, [name, text](auto& request) { request.set[name] = text; });
  }

  static bool is_seed(const spec::FacetDifference& difference) {
    return difference.facet == "seed" ||
           (difference.facet == "determinism" &&
            (difference.item == "sample_order" || difference.item.starts_with("seed.")));
  }

  void add_data(const spec::FacetDifference& difference) {
    const planning::RunRequest& from = pair_.request_b;
    const std::string role = difference.item;
    if (!has_input(pair_.request_a, role) || !has_input(from, role))
      return add_whole_code(difference);  // data of one recipe only
    add_change("data " + role, difference, [&from, role](auto& request) {
      take_input(request, from, role);
    });
  }

  void add_whole_code(const spec::FacetDifference& difference) {
    add_change("code", difference, [this_pair = &pair_](auto& request) {
      take_code(request, *this_pair);
    });
  }

  void add_environment(const spec::FacetDifference& difference) {
    const planning::RunRequest& from = pair_.request_b;
    const bool is_requested = pair_.request_a.variant != from.variant ||
                              !(pair_.request_a.recipe.environment == from.recipe.environment) ||
                              pair_.a.environment.lock_files() != pair_.b.environment.lock_files();
    if (is_requested) {
      add_change("environment", difference, [&from, &b = pair_.b](auto& request) {
        const std::string& source = from.repetition.environment_of;
        request.variant = from.variant;
        request.recipe.environment = from.recipe.environment.locked_in(from.recipe.directory);
        request.repetition.environment_of = source.empty() ? b.run_id : source;
      });
    } else if (!environment_) {
      environment_ = difference;
    }
  }

  /// Records have digests of values. So a run takes a value only from this session, where it has
  /// the digest.
  void add_session_variable(const spec::FacetDifference& difference) {
    const SessionVariable variable = session_variable(difference.item);
    const auto of_a = digest_in(pair_.a, difference.item);
    const auto of_b = digest_in(pair_.b, difference.item);
    const bool is_as_in_a = !of_a || variable.has(*of_a);
    const bool is_as_in_b = !of_b || variable.has(*of_b);
    if (!of_a) left_out_.insert(variable.name);
    if (!is_as_in_a) not_as_in_a_[variable.name] = variable.digest;
    if (is_as_in_a && is_as_in_b) {
      add_change("variable " + difference.item,
                 difference,
                 [name = variable.name, is_set = of_b.has_value()](auto& request) {
                   if (is_set) {
                     request.placement.left_out.erase(name);
                   } else {
                     request.placement.left_out.insert(name);
                   }
                 });
      return;
    }
    const char* const hint = !is_as_in_a ? "set it as A had it, and repeat the command"
                             : of_a      ? "set it as B had it, and do A again by 'sabath repro'"
                                         : "set it as B had it, and repeat the command";
    impossible_.insert(
        fmt::format("variable {}: not tried: its value was not kept; {}", difference.item, hint));
  }

  static std::string why_impossible(const std::string& facet) {
    return facet == "host"          ? "another machine cannot be made here"
           : facet == "launch"      ? "it is how the run was started"
           : facet == "packages"    ? "they are of a Python that no layer of the recipe makes"
           : facet == "libraries"   ? "what a run loads cannot be asked for"
           : facet == "determinism" ? "what a code does in its run cannot be asked for"
                                    : "no run can be asked for with that";
  }

  struct SessionVariable {
    std::string name{};
    std::string digest{};  ///< of its value here; empty: not set, or without a key

    bool has(const std::string& other) const { return !digest.empty() && digest == other; }
  };

  /// A record has printed names.
  SessionVariable session_variable(const std::string& item) const {
    for (const auto& [name, value] : base::current_environment()) {
      if (base::printable(name) == item)
        return {name, execution::session_digest(pair_.state_directory, name, value)};
    }
    return {item, {}};
  }

  static std::optional<std::string> digest_in(const spec::RunRecord& record,
                                              const std::string& item) {
    const spec::Facet* const session = record.facet(spec::session_facet);
    if (session == nullptr || !session->items.contains(item)) return std::nullopt;
    return session->items.at(item);
  }

  const RunPair& pair_;
  std::vector<CandidateChange> changes_{};
  std::set<std::string> impossible_{};
  std::set<std::string> left_out_{};
  std::map<std::string, std::string> not_as_in_a_{};
  std::optional<spec::FacetDifference> environment_{};  ///< not as requested, in one run
};

}  // namespace

CandidateChanges candidate_changes(const std::vector<spec::FacetDifference>& differences,
                                   const RunPair& pair) {
  Builder builder(pair);
  for (const spec::FacetDifference& difference : differences)
    builder.add(difference);
  return builder.take();
}

}  // namespace sabath::app
