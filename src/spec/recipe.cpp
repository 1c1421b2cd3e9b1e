#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <set>

namespace sabath::spec {
namespace {

constexpr std::string_view stage_prefix = "stage.";
constexpr std::string_view dataset_prefix = "dataset.";

template <class T>
const T* named(const std::vector<T>& values, std::string_view name) {
  const auto found = std::find_if(
      values.begin(), values.end(), [&](const T& value) { return value.name == name; });
  return found == values.end() ? nullptr : &*found;
}

/// Depth first through `needs`, so that a stage is appended after those it needs.
class StageOrder {
 public:
  explicit StageOrder(const Recipe& recipe) : recipe_(recipe) {}

  void visit(std::string_view name) {
    const Stage& stage = find(name);
    if (contains(done_, stage)) return;
    if (contains(open_, stage)) {
      throw base::Error(base::ErrorKind::usage,
                        "recipe '" + recipe_.name + "': stage '" + stage.name + "' needs itself");
    }
    open_.push_back(&stage);
    for (const std::string& need : stage.needs)
      visit(need);
    open_.pop_back();
    done_.push_back(&stage);
  }

  std::vector<const Stage*> take() { return std::move(done_); }

 private:
  static bool contains(const std::vector<const Stage*>& stages, const Stage& stage) {
    return std::find(stages.begin(), stages.end(), &stage) != stages.end();
  }

  const Stage& find(std::string_view name) const {
    const Stage* stage = recipe_.stage(name);
    if (stage != nullptr) return *stage;
    std::vector<std::string> names;
    for (const Stage& known : recipe_.stages)
      names.push_back(known.name);
    throw base::Error(base::ErrorKind::not_found,
                      "recipe '" + recipe_.name + "': no stage '" + base::printable(name) + "'",
                      base::did_you_mean(name, names));
  }

  const Recipe& recipe_;
  std::vector<const Stage*> open_;
  std::vector<const Stage*> done_;
};

/// The first of these conditions that does not hold; nothing where all do.
std::optional<std::string> why_not(const ValueLists& when, const ParameterValues& values) {
  for (const auto& [name, wanted] : when) {
    const auto found = values.find(name);
    if (found == values.end()) return "the parameter " + name + " is missing";
    const ParameterValue& value = found->second;
    if (std::find(wanted.begin(), wanted.end(), value) != wanted.end()) continue;
    std::string list;
    for (const ParameterValue& one : wanted)
      list += (list.empty() ? "" : " or ") + to_string(one);
    return name + " is " + to_string(value) + ", not " + list;
  }
  return std::nullopt;
}

}  // namespace

const Parameter* Recipe::parameter(std::string_view wanted) const {
  return named(parameters, wanted);
}

const Stage* Recipe::stage(std::string_view wanted) const {
  return named(stages, wanted);
}

base::Digest Recipe::digest() const {
  return base::sha256_of(text);
}

std::optional<std::string> why_not_due(const Stage& stage, const ParameterValues& values) {
  return why_not(stage.when, values);
}

std::map<std::string, std::string> Recipe::datasets_for(const ParameterValues& values) const {
  std::map<std::string, std::string> assets;
  for (const auto& [role, choices] : datasets) {
    const auto fits = std::ranges::find_if(
        choices, [&](const DatasetChoice& choice) { return !why_not(choice.when, values); });
    if (fits != choices.end()) assets[role] = fits->asset;
  }
  return assets;
}

std::map<std::string, std::map<std::string, std::string>> known_stage_variables(
    const Recipe& recipe) {
  std::map<std::string, std::string> defaults;
  for (const Parameter& parameter : recipe.parameters)
    defaults["param." + parameter.name] = to_string(parameter.default_value);
  std::map<std::string, std::map<std::string, std::string>> known;
  for (const Stage& stage : recipe.stages) {
    for (const auto& [name, text] : stage.variables) {
      const auto named = placeholders_of(text);
      const bool is_known = std::all_of(named.begin(), named.end(), [&](const std::string& one) {
        return defaults.contains(one);
      });
      if (is_known) known[stage.variant].emplace(name, expand(text, defaults, name));
    }
  }
  return known;
}

std::vector<std::string> names_in(const Stage& stage) {
  std::set<std::string> names;
  const auto add = [&](const std::string& text) {
    for (std::string& name : placeholders_of(text))
      names.insert(std::move(name));
  };
  for (const std::string& argument : stage.run)
    add(argument);
  for (const auto& [variable, value] : stage.variables)
    add(value);
  return {names.begin(), names.end()};
}

void check_due(const Recipe& recipe,
               const std::vector<const Stage*>& stages,
               const ParameterValues& values,
               std::string_view wanted) {
  const auto refuse = [&](const std::string& problem, const std::string& hint = {}) {
    throw base::Error(base::ErrorKind::usage, "recipe '" + recipe.name + "': " + problem, hint);
  };
  bool any = false;
  const auto assets = recipe.datasets_for(values);
  for (const Stage* stage : stages) {
    const auto reason = why_not_due(*stage, values);
    if (reason && stage->name == wanted)
      refuse("stage '" + stage->name + "' is not due: " + *reason);
    if (reason) continue;
    any = true;
    for (const std::string& name : names_in(*stage)) {
      if (name.starts_with(dataset_prefix) &&
          !assets.contains(name.substr(dataset_prefix.size()))) {
        refuse("stage '" + stage->name + "' uses {" + name +
                   "}, but the parameters give this role no data set",
               "give '" + stage->name + "' a \"when\" too, or choose other parameters");
      }
      const Stage* other =
          name.starts_with(stage_prefix) ? recipe.stage(name.substr(stage_prefix.size())) : nullptr;
      const auto missing = other == nullptr ? std::nullopt : why_not_due(*other, values);
      if (!missing) continue;
      refuse("stage '" + stage->name + "' uses {" + name + "}, but '" + other->name +
                 "' is not due: " + *missing,
             "give '" + stage->name + "' a \"when\" too, or choose other parameters");
    }
  }
  if (!any)
    refuse("no stage is due", "the \"when\" of each stage says for which parameters it runs");
}

std::vector<const Stage*> ordered_stages(const Recipe& recipe, std::string_view wanted) {
  StageOrder order(recipe);
  if (!wanted.empty()) {
    order.visit(wanted);
    return order.take();
  }
  for (const Stage& stage : recipe.stages)
    order.visit(stage.name);
  return order.take();
}

std::vector<std::string> tasks_of(const Recipe& recipe) {
  std::vector<std::string> tasks;
  for (const Stage& stage : recipe.stages) {
    const bool is_new = std::find(tasks.begin(), tasks.end(), stage.task) == tasks.end();
    if (!stage.task.empty() && is_new) tasks.push_back(stage.task);
  }
  return tasks;
}

std::vector<const Stage*> stages_of_task(const Recipe& recipe, std::string_view task) {
  StageOrder order(recipe);
  for (const Stage& stage : recipe.stages) {
    if (stage.task == task) order.visit(stage.name);
  }
  auto stages = order.take();
  if (!stages.empty()) return stages;
  const std::vector<std::string> tasks = tasks_of(recipe);
  std::string listed;
  for (const std::string& known : tasks)
    listed += (listed.empty() ? "'" : ", '") + known + "'";
  const std::string place = "recipe '" + recipe.name + "': ";
  if (task.empty()) {
    throw base::Error(base::ErrorKind::usage,
                      place + "each of its stages belongs to a task: " + listed,
                      "choose one: --task " + tasks.front());
  }
  const std::string guess = base::nearest(task, tasks);
  throw base::Error(base::ErrorKind::usage,
                    place + "no task '" + base::printable(task) + "'",
                    tasks.empty()   ? "none of its stages belongs to a task"
                    : guess.empty() ? "its tasks are " + listed
                                    : "did you mean '" + guess + "'? Its tasks are " + listed);
}

}  // namespace sabath::spec
