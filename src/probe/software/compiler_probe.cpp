#include "probes.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file_stamp.hpp>

#include <chrono>

namespace sabath::probe {
namespace {

constexpr std::string_view compilers[] = {"cc", "c++", "gfortran"};

/// Returns the first line of --version; empty where the program fails or hangs.
std::string first_line(base::ProcessRunner& processes, const std::string& program) {
  base::Command command;
  command.argv = {program, "--version"};
  command.environment = base::current_environment();
  (*command.environment)["LC_ALL"] = "C";
  command.deadline = std::chrono::seconds(10);
  try {
    const auto result = processes.run(command);
    return result.ok() ? result.output.substr(0, result.output.find('\n')) : std::string();
  } catch (const base::Error&) {
    return {};
  }
}

}  // namespace

/// Depends on the programs and on PATH: environment modules switch compilers behind a wrapper by
/// PATH.
std::string compilers_witness(const ProbeSources& sources) {
  if (!sources.run_tools) return "not run";
  const auto environment = base::current_environment();
  const auto path = environment.find("PATH");
  if (path == environment.end()) return "no path";
  std::string text = path->second;
  for (const auto compiler : compilers) {
    const auto program = base::find_program(compiler, path->second);
    const auto stamp = program ? base::stamp_of_any(*program) : std::nullopt;
    text += "\n" + (stamp ? program->string() + " " + stamp->text() : "none");
  }
  return text;
}

/// Compilers on PATH: first lines of --version. Starting them costs more than all other facts
/// together.
void probe_compilers(const ProbeSources& sources,
                     base::ProcessRunner& processes,
                     spec::HostFacts& facts) {
  if (!sources.run_tools) return;
  for (const auto compiler : compilers) {
    const auto program = base::find_program(compiler);
    if (!program) continue;
    auto version = first_line(processes, program->string());
    if (!version.empty()) facts.compilers.emplace(compiler, std::move(version));
  }
}

}  // namespace sabath::probe
