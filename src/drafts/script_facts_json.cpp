#include "script_facts.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/text_table.hpp>

#include <nlohmann/json.hpp>

namespace sabath::drafts {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

std::string python() {
  const base::Environment variables = base::current_environment();
  for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = base::variable_of(variables, name);
    std::error_code code;
    const fs::path path = fs::path(prefix) / "bin/python";
    if (!prefix.empty() && fs::exists(path, code)) return path.string();
  }
  for (const char* const name : {"python3", "python"}) {
    if (const auto found = base::find_program(name)) return found->string();
  }
  throw Error(ErrorKind::not_found,
              "init: no Python was found, which reads the script",
              "activate its environment, or install python3");
}

}  // namespace

nlohmann::json script_facts(const fs::path& script,
                            const fs::path& folder,
                            base::ProcessRunner& processes,
                            const std::stop_token& stop) {
  const std::string place = base::printable(script.filename().string()) + ": ";
  base::Command command;
  command.argv = {
      python(), "-I", "-c", std::string(script_facts_program()), script.string(), folder.string()};
  command.deadline = std::chrono::minutes(1);
  const base::ProcessResult result = processes.run(command, stop);
  if (result.end == base::ProcessEnd::stopped)
    throw Error(ErrorKind::interrupted, place + "interrupted while it was read");
  nlohmann::json facts = nlohmann::json::parse(result.output, nullptr, false);
  if (!result.ok() || !facts.is_object()) {
    throw Error(ErrorKind::usage,
                place + "Python cannot read it: " + base::printable(result.errors),
                "is it a script for Python 3?");
  }
  if (facts.contains("problem")) {
    throw Error(
        ErrorKind::usage,
        place + "is not valid Python: " + base::printable(facts["problem"].get<std::string>()),
        "make the script run first: 'sabath run -- python " +
            base::printable(script.filename().string()) + "'");
  }
  return facts;
}

}  // namespace sabath::drafts
