#include "builtin_layers.hpp"
#include "layer_variables.hpp"
#include "source/build_steps.hpp"
#include "store/environment_changes.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/loaded_modules.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// `module` is a shell function. Its output goes to stderr. Records end with a NUL, sections with
/// an empty record: variables, steps, variables. A module may change PATH: `env` is called by its
/// path.
constexpr const char* session_script = R"(
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

/// Scripts for login shells come first where the user has no login shell: they know the site's
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

/// A request to the module system.
struct ModuleRequest {
  std::filesystem::path init{};        ///< the script that defines `module` in a bash
  std::vector<std::string> folders{};  ///< for `module use`, before anything is loaded
  std::vector<std::string> modules{};  ///< loaded in this order
  base::Environment variables{};       ///< complete environment at the start
};

/// One `module load`, with the loaded modules after it.
struct ModuleStep {
  std::string asked{};
  int status = 0;
  std::vector<std::string> loaded{};  ///< full names, in the order of loading
};

/// Variables and modules that a shell saw. A failed load ends it, so that `steps` may be short.
struct ModuleSession {
  base::Environment before{};  ///< before the module system was initialised
  std::vector<ModuleStep> steps{};
  base::Environment after{};
  std::string said{};  ///< last output of the module system
};

std::vector<ModuleStep> module_steps(const std::vector<std::string>& records) {
  std::vector<ModuleStep> steps;
  for (std::size_t i = 0; i + 2 < records.size(); i += 3) {
    ModuleStep step{records[i], 1, base::split(records[i + 2], ':')};
    std::from_chars(
        records[i + 1].data(), records[i + 1].data() + records[i + 1].size(), step.status);
    steps.push_back(std::move(step));
  }
  return steps;
}

/// Checks that the shell reported its variables: a module may replace `env` or its libraries.
void require_whole(const ModuleSession& session, const std::string& place) {
  const auto seen = base::split(base::variable_of(session.after, "LOADEDMODULES"), ':');
  const bool is_last = session.steps.empty() || seen == session.steps.back().loaded;
  if (!session.before.empty() && !session.after.empty() && is_last) return;
  throw_environment(
      place + ": the shell that loads the modules did not print its variables" + session.said,
      "check whether a module puts another 'env' before the system's, or sets LD_LIBRARY_PATH or "
      "LD_PRELOAD");
}

/// Runs one bash that initialises the module system and loads the modules. Throws
/// Error{environment} without an answer; `place` begins its message.
ModuleSession run_module_session(base::ProcessRunner& processes,
                                 const ModuleRequest& request,
                                 const std::string& place) {
  base::Command shell;
  shell.argv = bash_with_env(session_script, request.variables, place);
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
  ModuleSession session{.said = last_lines_in(result.errors, 12)};
  std::string_view text = result.output;
  const auto before = take_section(text);
  const auto steps = take_section(text);
  const auto after = take_section(text);
  if (!before || !steps || !after) {
    const bool has_no_module = result.end == base::ProcessEnd::exited && result.exit_code >= 90;
    throw_environment(
        place + ": " + request.init.string() + ": " +
            (has_no_module ? "defines no 'module'"
                           : "the shell that loads modules " + result.describe()) +
            session.said,
        "try it: bash --noprofile --norc -c '. " + request.init.string() + "; module avail'");
  }
  session.before = variables_of(*before);
  session.steps = module_steps(*steps);
  session.after = variables_of(*after);
  require_whole(session, place);
  return session;
}

/// Returns the initialisation script of the module system in `user`'s shell, else of a usual place.
/// Nothing without one.
std::optional<fs::path> find_module_system(const base::Environment& user) {
  std::vector<fs::path> candidates;
  for (const char* name : {"LMOD_PKG", "MODULESHOME"}) {
    if (const std::string home = base::variable_of(user, name); !home.empty())
      candidates.push_back(fs::path(home) / "init" / "bash");
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

/// Returns the variables that say where modules are found.
base::Environment module_settings(base::Environment user) {
  static const base::Form form(
      "MODULEPATH|MODULERCFILE|MODULESHOME|"
      "LMOD_(?:MODULERCFILE|MODULERC|SYSTEM_NAME|PACKAGE_PATH|PKG)");
  std::erase_if(user,
                [&](const auto& one) { return one.second.empty() || !form.matches(one.first); });
  return user;
}

bool is_loaded(const std::string& asked, const std::vector<std::string>& loaded) {
  return std::ranges::any_of(loaded, [&](const std::string& name) {
    return name == asked || name.starts_with(asked + "/");
  });
}

[[noreturn]] void refuse(const std::string& place,
                         const std::string& problem,
                         const ModuleSession& session) {
  throw_environment(place + ": " + problem + session.said,
                    "'module avail' shows what there is; MODULEPATH is '" +
                        base::variable_of(session.after, "MODULEPATH") + "'");
}

/// A load can succeed and load nothing, and a later load can replace an earlier one. An alias loads
/// a module under another name.
void require_loaded(const ModuleRequest& request,
                    const ModuleSession& session,
                    const std::string& place) {
  const std::vector<std::string> none;
  const auto& at_end = session.steps.empty() ? none : session.steps.back().loaded;
  for (std::size_t i = 0; i < request.modules.size(); ++i) {
    const std::string name = "module '" + base::printable(request.modules[i]) + "'";
    const bool was_tried = i < session.steps.size();
    if (!was_tried || session.steps[i].status != 0)
      refuse(place, name + " cannot be loaded", session);
    const auto& before = i == 0 ? none : session.steps[i - 1].loaded;
    const auto& after = session.steps[i].loaded;
    std::vector<std::string> added;
    std::ranges::copy_if(after, std::back_inserter(added), [&](const auto& each) {
      return std::ranges::find(before, each) == before.end();
    });
    if (added.empty() && !is_loaded(request.modules[i], after))
      refuse(place, name + " did not say that it failed, but is not loaded", session);
    const bool stayed = std::ranges::all_of(added, [&](const std::string& each) {
      return std::ranges::find(at_end, each) != at_end.end();
    });
    if (!stayed && !is_loaded(request.modules[i], at_end))
      refuse(place,
             name + " did not stay: at the end there were " +
                 (at_end.empty() ? "nothing" : in_words(at_end)),
             session);
  }
}

/// Reads the two aligned lists of both module systems.
std::vector<spec::LoadedModule> modules_of(const base::Environment& after,
                                           const std::string& place) {
  const auto names = base::split(base::variable_of(after, "LOADEDMODULES"), ':');
  const auto files = base::split(base::variable_of(after, "_LMFILES_"), ':');
  std::vector<spec::LoadedModule> modules;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (files.size() != names.size()) {
      throw_environment(
          place + ": the module system does not tell where '" + base::printable(names[i]) + "' is",
          "its modulefile identifies a module; _LMFILES_ should have its path");
    }
    modules.push_back({names[i], files[i], base::digest_file(files[i])});
  }
  return modules;
}

/// Returns all files whose change could make the same request load something else.
std::vector<fs::path> what_decides(const ModuleRequest& request,
                                   const ModuleSession& session,
                                   const spec::LoadedModules& loaded) {
  std::vector<fs::path> files{request.init};
  std::vector<fs::path> folders;
  for (const base::Environment* variables : {&request.variables, &session.after}) {
    for (const std::string& folder :
         base::split(base::variable_of(*variables, "MODULEPATH"), ':')) {
      folders.emplace_back(folder);
      for (const std::string& asked : request.modules)
        folders.push_back(fs::path(folder) / asked.substr(0, asked.find('/')));
    }
  }
  for (const spec::LoadedModule& module : loaded.modules) {
    files.emplace_back(module.file);
    folders.push_back(fs::path(module.file).parent_path());
  }
  std::error_code code;
  for (const fs::path& folder : folders) {
    if (!fs::exists(folder, code)) continue;
    files.push_back(folder);
    for (const char* name : {".modulerc", ".modulerc.lua", ".version"})
      if (fs::exists(folder / name, code)) files.push_back(folder / name);
  }
  return files;
}

std::string key_of(const ModuleRequest& request) {
  std::vector<std::string> words{request.init.string()};
  words.insert(words.end(), request.folders.begin(), request.folders.end());
  words.emplace_back("--");
  words.insert(words.end(), request.modules.begin(), request.modules.end());
  return memo_key("modules/2", words, request.variables);
}

ModuleRequest request_of(const LayerContext& context, const base::Environment& user) {
  const std::string place = place_of(context.spec.name);
  ModuleRequest request{.modules = context.spec.modules, .variables = context.variables};
  const auto init = find_module_system(user);
  if (!init) {
    throw_environment(place + ": no module system was found here",
                      "where Lmod or Environment Modules is installed, MODULESHOME says so");
  }
  request.init = *init;
  for (const auto& [name, value] : module_settings(user))
    request.variables.insert_or_assign(name, value);
  std::error_code code;
  const fs::path recipe = fs::weakly_canonical(fs::absolute(context.recipe_directory), code);
  for (const std::string& folder : context.spec.use) {
    request.folders.push_back(spec::expand(folder, {{"recipe", recipe.string()}}, place));
    if (fs::is_directory(request.folders.back(), code)) continue;
    throw_environment(place + ": " + request.folders.back() + ": no such folder",
                      "\"use\" names folders with modulefiles");
  }
  return request;
}

class ModulesLayer final : public EnvironmentLayer {
 public:
  explicit ModulesLayer(const LayerTools& tools)
      : processes_(tools.processes), memo_(tools.memo), user_(module_settings(tools.user)) {}

  spec::LayerKind kind() const override { return spec::LayerKind::modules; }
  std::string_view description() const override { return "modules of the site"; }
  bool has_prefix() const override { return false; }
  std::map<std::string, std::string> resolve(const LayerContext& context) override {
    const spec::LoadedModules loaded = load(context);
    std::map<std::string, std::string> facts;
    for (const spec::LoadedModule& module : loaded.modules) {
      facts["module." + module.name] = module.digest.text();
      std::string& order = facts["modules"];
      order += (order.empty() ? "" : " ") + module.name;
    }
    return facts;
  }

  void describe(const LayerContext& context, spec::BuiltLayer& built) override {
    built.modules = load(context);
  }

 private:
  /// Loads the modules. Throws Error{environment} for one that is missing, fails or does not stay
  /// loaded.
  spec::LoadedModules load(const LayerContext& context) {
    const ModuleRequest request = request_of(context, user_);
    const std::string key = key_of(request);
    if (const auto known = memo_->find(key)) return spec::parse_loaded_modules(*known, "memo");
    const std::string place = place_of(context.spec.name);
    const ModuleSession session = run_module_session(processes_, request, place);
    require_loaded(request, session, place);
    // Variables that say where modules are found are the user's, not a change by a module.
    base::Environment before = session.before;
    for (const auto& [name, value] : module_settings(user_))
      before.erase(name);
    EnvironmentChanges changes = changes_between(before, session.after);
    spec::LoadedModules loaded{request.init.string(),
                               modules_of(session.after, place),
                               std::move(changes.sets),
                               std::move(changes.unsets)};
    memo_->remember(key, spec::to_text(loaded), what_decides(request, session, loaded));
    return loaded;
  }

  base::ProcessRunner& processes_;
  std::shared_ptr<Memo> memo_;
  base::Environment user_;
};

}  // namespace

std::unique_ptr<EnvironmentLayer> make_modules_layer(const LayerTools& tools) {
  return std::make_unique<ModulesLayer>(tools);
}

}  // namespace sabath::env
