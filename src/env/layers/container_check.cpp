#include "container_check.hpp"

#include "layer_variables.hpp"
#include "tools/container_engine.hpp"

#include <sabath/base/error.hpp>
#include <sabath/env/container_command.hpp>

#include <sstream>

namespace sabath::env {
namespace {

/// Prints the names that it does not find.
constexpr const char* look = R"(for name; do command -v "$name" >/dev/null || echo "$name"; done)";

/// The engine's own trouble, by its manual, and not that of an image without a shell.
bool is_of_engine(const std::string& engine, const base::ProcessResult& result) {
  if (result.end != base::ProcessEnd::exited) return true;
  if (!ContainerEngine::runs_files(engine)) return result.exit_code == 125;
  return result.exit_code == 255 &&
         result.errors.find("executable file not found") == std::string::npos;
}

}  // namespace

void check_container(const LayerBuild& build,
                     const spec::BuiltLayer& layer,
                     const base::Environment& user,
                     base::ProcessRunner& processes) {
  const std::string place = place_of(build.lock.name);
  const std::vector<std::string>& wanted = build.context.spec.commands;
  ContainerUse use;
  use.argv = {"sh", "-c", look, "sh"};
  use.argv.insert(use.argv.end(), wanted.begin(), wanted.end());
  use.working_directory = "/";
  use.home = "/tmp";
  use.id_file = build.work / "container.id";
  use.scratch = build.work;
  spec::BuiltEnvironment environment{build.context.before};
  environment.layers.push_back(layer);
  const ContainerCommand command = container_command(environment, use, user, processes, build.stop);
  const ImageTools tools(
      processes, command.environment, place, build.stop, build.log, build.limits);
  base::ProcessResult result;
  try {
    result = tools.run(command.argv);
  } catch (...) {
    remove_container(command, processes);
    throw;
  }
  if (is_of_engine(layer.container->engine, result))
    tools.fail("start a container of the image", result);
  if (wanted.empty()) return;
  std::vector<std::string> missing;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);)
    missing.push_back(std::move(line));
  if (missing.empty() && result.ok()) return;
  if (missing.empty()) missing = {"sh, which looks for the others"};
  throw base::Error(base::ErrorKind::environment,
                    place + ": the image has no such command: " + in_words(missing),
                    "\"commands\" of a container layer are programs on the PATH of the image; the "
                    "log of the build is " +
                        build.log.string());
}

}  // namespace sabath::env
