#include <sabath/app/apply_script.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/spec/script_recipe.hpp>

#include <fmt/format.h>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;

/// One script and one asset give the same to everybody, as a generated asset does.
constexpr std::uint64_t script_seed = 1;

/// Throws Error{usage} for an argument that the script lacks, and for a value that it refuses.
void check_given(const std::vector<spec::ScriptArgument>& known,
                 const std::string& name,
                 const std::string& value,
                 const std::string& place) {
  std::vector<std::string> names;
  for (const spec::ScriptArgument& argument : known) {
    names.push_back(argument.parameter.name);
    if (argument.parameter.name != name) continue;
    try {
      spec::parse_parameter(argument.parameter, value);
    } catch (const Error& error) {
      throw Error(base::ErrorKind::usage, std::string("--arg: ") + error.what(), error.hint());
    }
    return;
  }
  const std::string otherwise =
      names.empty() ? "it takes none" : fmt::format("it takes {}", fmt::join(names, ", "));
  throw Error(base::ErrorKind::usage,
              place + "no argument '" + base::printable(name) + "'",
              base::did_you_mean(name, names, otherwise));
}

}  // namespace

void check_call(const spec::Asset& asset, const ScriptCall& call) {
  const std::vector<spec::ScriptArgument> known = spec::arguments_of(asset, call.script);
  const std::string place = "script '" + call.script + "' of '" + asset.name + "': ";
  std::vector<std::string> problems;
  std::string hint;  // of the first problem
  const auto add = [&](const std::string& problem, const std::string& help) {
    problems.push_back(problem);
    if (hint.empty()) hint = help;
  };
  for (const auto& [name, value] : call.arguments) {
    try {
      check_given(known, name, value, place);
    } catch (const Error& error) {
      add(error.what(), error.hint());
    }
  }
  for (const spec::ScriptArgument& argument : known) {
    const std::string& name = argument.parameter.name;
    if (!argument.must_be_given || call.arguments.contains(name)) continue;
    add(place + "argument '" + name + "' must be given", "--arg " + name + "=...");
  }
  if (!problems.empty())
    throw Error(base::ErrorKind::usage, fmt::format("{}", fmt::join(problems, "\n")), hint);
  if (!call.variant.empty())
    asset.environment.value_or(spec::EnvironmentSpec{}).select(call.variant);
}

planning::RunRequest script_request(const spec::Asset& asset,
                                    const assets::FetchedAsset& fetched,
                                    const ScriptCall& call,
                                    const home::Folders& folders) {
  check_call(asset, call);
  const spec::Recipe recipe = spec::script_recipe(asset, call.script);
  const fs::path folder = folders.state() / "scripts" / recipe.name;
  const fs::path file = folder / "recipe.json";
  base::make_directories(folder);
  // Not rewritten where it is right: a run may be keeping it at this moment.
  if (base::read_file_if_exists(file) != recipe.text)
    base::write_file_atomically(file, recipe.text);
  planning::RunRequest request;
  request.recipe = home::load_recipe(file);
  request.set = call.arguments;
  request.seed = script_seed;
  request.fresh = call.fresh;
  request.offline = call.offline;
  request.variant = call.variant;
  for (const auto& [role, choices] : request.recipe.datasets)
    request.repetition.inputs.push_back(
        {role, choices.front().asset, fetched.version, fetched.digest, fetched.path.string()});
  request.again = {"fetch", asset.name, "--apply", call.script};
  for (const auto& [name, value] : call.arguments)
    request.again.insert(request.again.end(), {"--arg", name + "=" + value});
  return request;
}

}  // namespace sabath::app
