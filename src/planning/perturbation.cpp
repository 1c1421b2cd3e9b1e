#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/planning/perturbation.hpp>

namespace sabath::planning {

using base::Error;
using base::ErrorKind;

std::string perturbation_parameter(const std::string& kind) {
  return "perturb_" + kind;
}

spec::ValueLists perturbed_runs(const RunRequest& request, const std::string& kind, int repeat) {
  const std::string option = "--perturb " + base::printable(kind) + ": ";
  if (kind != "1ulp") throw Error(ErrorKind::usage, option + "unknown", "there is '1ulp'");
  const std::string name = perturbation_parameter(kind);
  const spec::Parameter* parameter = request.recipe.parameter(name);
  const bool is_number = parameter != nullptr && parameter->type == spec::ParameterType::integer &&
                         parameter->default_value == spec::ParameterValue(std::int64_t{0});
  if (!is_number) {
    throw Error(ErrorKind::usage,
                option + "the recipe " + request.recipe.name + " cannot do that",
                "its code would have to: a recipe says so by the parameter '" + name +
                    "', an int that is 0 by default");
  }
  if (request.set.contains(name))
    throw Error(ErrorKind::usage, option + "--set " + name + " says it already");
  if (!request.seed) {
    throw Error(ErrorKind::usage,
                option + "wants the --seed of the run that is the reference",
                "runs of other seeds differ by more than a perturbation");
  }
  spec::ValueLists lists;
  for (std::int64_t i = 1; i <= repeat; ++i)
    lists[name].emplace_back(i);
  return lists;
}

}  // namespace sabath::planning
