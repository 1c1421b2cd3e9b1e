#include "module_session.hpp"

#include "shell_answer.hpp"
#include "source/build_steps.hpp"

#include <sabath/base/error.hpp>

#include <array>
#include <charconv>
#include <sstream>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// `module` is a function of the shell: it is asked in one. What it says goes to stderr. Records
/// end with a NUL, sections with an empty record: variables, steps, variables. A module may set
/// PATH anew: `env` is called by its path.
constexpr const char* script = R"(
readonly sabath_env=$1
"$sabath_env" -0 || exit 80
printf '\0'
init=$2; shift 2
source "$init" >/dev/null || exit 90
type module >/dev/null 2>&1 || exit 91
while [ "$1" != -- ]; do module use "$1" >&2; shift; done
shift
for asked; do
  module load "$asked" >&2
  status=$?
  printf '%s\0%s\0%s\0' "$asked" "$status" ":${LOADEDMODULES-}"
  [ "$status" = 0 ] || break
done
printf '\0'
"$sabath_env" -0 || exit 80
printf '\0'
)";

/// Scripts for login shells come first where the user's shell was none: they know the site's
/// modules.
constexpr std::array login_scripts{"/etc/profile.d/z00_lmod.sh",
                                   "/etc/profile.d/lmod.sh",
                                   "/etc/profile.d/00-modulepath.sh",
                                   "/etc/profile.d/modules.sh"};
constexpr std::array usual_scripts{"/usr/share/lmod/lmod/init/bash",
                                   "/opt/apps/lmod/lmod/init/bash",
                                   "/opt/cray/pe/lmod/lmod/init/bash",
                                   "/usr/local/lmod/lmod/init/bash",
                                   "/usr/share/modules/init/bash",
                                   "/usr/share/Modules/init/bash",
                                   "/usr/local/Modules/init/bash"};

std::vector<ModuleStep> steps_of(const std::vector<std::string>& records) {
  std::vector<ModuleStep> steps;
  for (std::size_t i = 0; i + 2 < records.size(); i += 3) {
    ModuleStep step{records[i], 1, split_list(records[i + 2])};
    std::from_chars(
        records[i + 1].data(), records[i + 1].data() + records[i + 1].size(), step.status);
    steps.push_back(std::move(step));
  }
  return steps;
}

/// A module that puts something else in the place of `env`, or of its libraries, must not pass for
/// one that unsets everything.
void require_whole(const ModuleSession& session, const std::string& place) {
  const auto loaded = session.after.find("LOADEDMODULES");
  const auto seen =
      loaded == session.after.end() ? std::vector<std::string>() : split_list(loaded->second);
  const bool is_last = session.steps.empty() || seen == session.steps.back().loaded;
  if (!session.before.empty() && !session.after.empty() && is_last) return;
  throw base::Error(
      base::ErrorKind::environment,
      place + ": the shell that loads modules does not tell its variables" + session.said,
      "do the modules put another 'env', or LD_LIBRARY_PATH or LD_PRELOAD with other "
      "libraries, before those of the system?");
}

std::string explanation(const std::string& errors) {
  std::vector<std::string> told;
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) told.push_back(line);
  return last_lines(told, 12);
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const auto item = text.substr(0, text.find(':'));
    if (!item.empty()) items.emplace_back(item);
    text.remove_prefix(std::min(item.size() + 1, text.size()));
  }
  return items;
}

ModuleSession run_module_session(base::ProcessRunner& processes,
                                 const ModuleRequest& request,
                                 const std::string& place) {
  base::Command shell;
  shell.argv = bash_with_env(script, request.variables, place);
  shell.argv.push_back(request.init.string());
  shell.argv.insert(shell.argv.end(), request.folders.begin(), request.folders.end());
  shell.argv.emplace_back("--");
  shell.argv.insert(shell.argv.end(), request.modules.begin(), request.modules.end());
  shell.working_directory = "/";
  shell.environment = request.variables;
  shell.deadline = std::chrono::minutes(3);
  shell.capture_limit = 1U << 24U;
  shell.output_limit = shell.capture_limit;
  const base::ProcessResult result = processes.run(shell);
  ModuleSession session{.said = explanation(result.errors)};
  std::string_view text = result.output;
  const auto before = take_section(text);
  const auto steps = take_section(text);
  const auto after = take_section(text);
  if (!before || !steps || !after) {
    const bool has_no_module = result.end == base::ProcessEnd::exited && result.exit_code >= 90;
    throw base::Error(
        base::ErrorKind::environment,
        place + ": " + request.init.string() + ": " +
            (has_no_module ? "defines no 'module'"
                           : "the shell that loads modules " + result.describe()) +
            session.said,
        "try it: bash --noprofile --norc -c '. " + request.init.string() + "; module avail'");
  }
  session.before = variables_of(*before);
  session.steps = steps_of(*steps);
  session.after = variables_of(*after);
  require_whole(session, place);
  return session;
}

std::optional<fs::path> find_module_system(const base::Environment& user) {
  std::vector<fs::path> candidates;
  for (const char* name : {"LMOD_PKG", "MODULESHOME"}) {
    const auto home = user.find(name);
    if (home != user.end() && !home->second.empty())
      candidates.push_back(fs::path(home->second) / "init" / "bash");
  }
  if (!user.contains("MODULEPATH"))
    candidates.insert(candidates.begin(), login_scripts.begin(), login_scripts.end());
  candidates.insert(candidates.end(), usual_scripts.begin(), usual_scripts.end());
  for (const fs::path& candidate : candidates) {
    std::error_code code;
    if (fs::is_regular_file(candidate, code)) return candidate;
  }
  return std::nullopt;
}

}  // namespace sabath::env
