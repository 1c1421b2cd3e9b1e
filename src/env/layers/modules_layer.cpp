#include "modules_layer.hpp"

#include "layer_variables.hpp"
#include "store/environment_changes.hpp"
#include "tools/module_session.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Which modules a site's users find. Everything else of theirs stays outside.
base::Environment module_settings(const base::Environment& user) {
  base::Environment settings;
  for (const char* name : {"MODULEPATH",
                           "MODULERCFILE",
                           "LMOD_MODULERCFILE",
                           "LMOD_MODULERC",
                           "LMOD_SYSTEM_NAME",
                           "LMOD_PACKAGE_PATH",
                           "MODULESHOME",
                           "LMOD_PKG"}) {
    const auto found = user.find(name);
    if (found != user.end() && !found->second.empty()) settings.insert(*found);
  }
  return settings;
}

bool is_loaded(const std::string& asked, const std::vector<std::string>& loaded) {
  return std::any_of(loaded.begin(), loaded.end(), [&](const std::string& name) {
    return name == asked || name.starts_with(asked + "/");
  });
}

[[noreturn]] void refuse(const std::string& place,
                         const std::string& problem,
                         const ModuleSession& session) {
  const auto path = session.after.find("MODULEPATH");
  throw base::Error(base::ErrorKind::environment,
                    place + ": " + problem + session.said,
                    "'module avail' shows what there is; MODULEPATH is '" +
                        (path == session.after.end() ? "" : path->second) + "'");
}

/// A load can end with success and leave nothing loaded, and a later one can replace what an
/// earlier one loaded. An alias loads something under another name.
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
    std::copy_if(after.begin(), after.end(), std::back_inserter(added), [&](const auto& each) {
      return std::find(before.begin(), before.end(), each) == before.end();
    });
    if (added.empty() && !is_loaded(request.modules[i], after))
      refuse(place, name + " did not say that it failed, but is not loaded", session);
    const bool stayed = std::all_of(added.begin(), added.end(), [&](const std::string& each) {
      return std::find(at_end.begin(), at_end.end(), each) != at_end.end();
    });
    if (!stayed && !is_loaded(request.modules[i], at_end))
      refuse(place,
             name + " did not stay: at the end there were " +
                 (at_end.empty() ? "nothing" : in_words(at_end)),
             session);
  }
}

/// Aligned lists, as both module systems keep them.
std::vector<spec::LoadedModule> modules_of(const base::Environment& after,
                                           const std::string& place) {
  const auto list = [&](const char* name) {
    const auto found = after.find(name);
    return found == after.end() ? std::vector<std::string>() : split_list(found->second);
  };
  const auto names = list("LOADEDMODULES");
  const auto files = list("_LMFILES_");
  std::vector<spec::LoadedModule> modules;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (files.size() != names.size()) {
      throw base::Error(
          base::ErrorKind::environment,
          place + ": the module system does not tell where '" + base::printable(names[i]) + "' is",
          "its modulefile identifies a module; _LMFILES_ should have its path");
    }
    modules.push_back({names[i], files[i], base::digest_file(files[i])});
  }
  return modules;
}

/// All whose change could make the same request load something else, as far as files tell.
std::vector<fs::path> what_decides(const ModuleRequest& request,
                                   const ModuleSession& session,
                                   const spec::LoadedModules& loaded) {
  std::vector<fs::path> files{request.init};
  std::vector<fs::path> folders;
  for (const base::Environment* variables : {&request.variables, &session.after}) {
    const auto path = variables->find("MODULEPATH");
    if (path == variables->end()) continue;
    for (const std::string& folder : split_list(path->second)) {
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
    throw base::Error(base::ErrorKind::environment,
                      place + ": no module system was found here",
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
    throw base::Error(base::ErrorKind::environment,
                      place + ": " + request.folders.back() + ": no such folder",
                      "\"use\" names folders with modulefiles");
  }
  return request;
}

}  // namespace

ModulesLayer::ModulesLayer(base::ProcessRunner& processes,
                           std::shared_ptr<Memo> memo,
                           const base::Environment& user)
    : processes_(processes), memo_(std::move(memo)), user_(module_settings(user)) {}

spec::LoadedModules ModulesLayer::load(const LayerContext& context) {
  const ModuleRequest request = request_of(context, user_);
  const std::string key = key_of(request);
  if (const auto known = memo_->find(key)) return spec::parse_loaded_modules(*known, "memo");
  const std::string place = place_of(context.spec.name);
  const ModuleSession session = run_module_session(processes_, request, place);
  require_loaded(request, session, place);
  // Where modules are found is the user's, and not a change that a module made.
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

std::map<std::string, std::string> ModulesLayer::resolve(const LayerContext& context) {
  const spec::LoadedModules loaded = load(context);
  std::map<std::string, std::string> facts;
  for (const spec::LoadedModule& module : loaded.modules) {
    facts["module." + module.name] = module.digest.text();
    std::string& order = facts["modules"];
    order += (order.empty() ? "" : " ") + module.name;
  }
  return facts;
}

void ModulesLayer::describe(const LayerContext& context, spec::BuiltLayer& built) {
  built.modules = load(context);
}

}  // namespace sabath::env
