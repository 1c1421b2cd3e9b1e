#include "patches.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/recipe.hpp>

#include <sstream>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// git and patch do the same here: neither guesses where lines around a change are others.
std::vector<std::string> command_for(const base::Environment& environment, const fs::path& file) {
  const auto path = environment.find("PATH");
  const std::string places = path == environment.end() ? "" : path->second;
  if (const auto git = base::find_program("git", places)) {
    return {git->string(), "apply", "-p1", "--whitespace=nowarn", "--", file.string()};
  }
  if (const auto patch = base::find_program("patch", places)) {
    return {patch->string(),
            "-p1",
            "--batch",
            "--forward",
            "--fuzz=0",
            "--no-backup-if-mismatch",
            "--reject-file=-",
            "--input=" + file.string()};
  }
  return {};
}

/// The lines that say which file and which hunk.
std::string places_in(const std::string& said) {
  std::vector<std::string> lines;
  std::istringstream stream(said);
  for (std::string line; std::getline(stream, line);) {
    for (const char* sign :
         {"error: ", "patching file", "Hunk #", "can't find file", "malformed"}) {
      if (line.find(sign) == std::string::npos) continue;
      lines.push_back(std::move(line));
      break;
    }
  }
  return last_lines(lines);
}

}  // namespace

std::vector<Patch> read_patches(const LayerContext& context) {
  const std::string place = place_of(context.spec.name);
  std::vector<Patch> patches;
  for (const std::string& named : context.spec.patches) {
    std::error_code code;
    const fs::path recipe = fs::weakly_canonical(fs::absolute(context.recipe_directory), code);
    const fs::path path = spec::expand(named, {{"recipe", recipe.string()}}, place);
    const fs::path real = fs::canonical(recipe / path, code);
    if (code || !fs::is_regular_file(real, code)) {
      throw Error(ErrorKind::not_found,
                  place + ": " + path.string() + ": no such file",
                  "the recipe names it among its patches");
    }
    if (!real.string().starts_with(recipe.string() + "/")) {
      throw Error(ErrorKind::usage,
                  place + ": " + path.string() + ": lies outside of the recipe",
                  "patches are a part of the recipe");
    }
    patches.push_back({real, base::digest_file(real)});
  }
  return patches;
}

void apply_patches(const LayerBuild& build,
                   const std::vector<Patch>& patches,
                   const fs::path& source,
                   base::ProcessRunner& processes) {
  const std::string place = place_of(build.lock.name);
  for (const Patch& patch : patches) {
    const std::string name = patch.file.filename().string();
    build.observer.note(place + ": applying " + base::printable(name));
    base::Command command;
    command.argv = command_for(build.context.variables, patch.file);
    if (command.argv.empty()) {
      throw Error(ErrorKind::environment,
                  place + ": neither git nor patch is on PATH, and the recipe has patches",
                  "install one (Debian: apt install patch)");
    }
    command.working_directory = source;
    command.environment = build.context.variables;
    // A repository that sabath's folders happen to lie in is not the one that is meant.
    (*command.environment)["GIT_CEILING_DIRECTORIES"] = source.parent_path().string();
    (*command.environment)["GIT_CONFIG_NOSYSTEM"] = "1";
    command.deadline = build.limits.wall.value_or(usual_build_time);
    const base::ProcessResult result = processes.run(command, build.stop);
    if (result.end == base::ProcessEnd::stopped) {
      throw Error(ErrorKind::interrupted, place + ": stopped while patching");
    }
    const std::string said = result.errors + result.output;
    write_log(build.log, "$ " + base::quote_command(command.argv) + "\n" + said);
    if (result.ok()) continue;
    throw Error(ErrorKind::environment,
                place + ": the patch " + base::printable(name) + " does not apply: " +
                    (result.end == base::ProcessEnd::exited ? "" : result.describe()) +
                    places_in(said),
                "patches are applied in the order of the recipe, with -p1, and lines must fit "
                "exactly; the log is " +
                    build.log.string());
  }
}

}  // namespace sabath::env
