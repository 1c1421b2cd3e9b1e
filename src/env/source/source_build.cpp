#include "source_build.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/spec/recipe.hpp>

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Returns a script that each project() of the source includes. It keeps the paths of source and
/// build out of __FILE__ and debug information.
std::string prefix_map_script(const fs::path& source, const fs::path& folder) {
  std::string script =
      "foreach(language C CXX Fortran)\n"
      "  if(CMAKE_${language}_COMPILER_ID MATCHES \"^(GNU|Clang|IntelLLVM)$\")\n";
  for (const auto& [path, name] : {std::pair{source, "source"}, std::pair{folder, "build"}}) {
    script += "    add_compile_options(\"$<$<COMPILE_LANGUAGE:${language}>:-ffile-prefix-map=" +
              path.string() + "=" + name + ">\")\n";
  }
  return script + "  endif()\nendforeach()\n";
}

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

/// Adds words to a variable that the layer may have set.
void append(base::Environment& environment, const std::string& name, const std::string& words) {
  std::string& value = environment[name];
  value += (value.empty() ? "" : " ") + words;
}

/// Returns flags for finding libraries in this prefix and those before without LD_LIBRARY_PATH.
std::string rpath_flags(const LayerBuild& attempt) {
  std::string flags;
  const auto add = [&](const fs::path& prefix) {
    for (const char* folder : {"lib", "lib64"})
      flags += (flags.empty() ? "-Wl,-rpath," : " -Wl,-rpath,") + (prefix / folder).string();
  };
  add(attempt.prefix);
  for (const spec::BuiltLayer& layer : attempt.context.before) {
    if (layer.lock.kind == spec::LayerKind::source && !layer.prefix.empty()) add(layer.prefix);
  }
  return flags;
}

/// Keeps the path of the source out of the result. configure's default flags stay.
void map_prefix(base::Environment& environment, const SourceBuild& build) {
  const auto& facts = build.build.lock.facts;
  for (const auto& [language, name] :
       {std::pair{"c", "CFLAGS"}, std::pair{"c++", "CXXFLAGS"}, std::pair{"fortran", "FCFLAGS"}}) {
    const auto compiler = facts.find(std::string("compiler.") + language);
    if (compiler == facts.end()) continue;
    // A compiler that reports its machine is GCC, Clang or compatible.
    if (compiler->second.find("; ") == std::string::npos) continue;
    if (environment[name].empty()) environment[name] = "-g -O2";
    append(environment, name, "-ffile-prefix-map=" + build.source.string() + "=source");
  }
}

using Setting = std::pair<std::string, std::string>;

/// Returns the option or variable that names the compiler, if any.
std::optional<Setting> setting_for(const Language& language, const LayerContext& context) {
  const auto& options = context.spec.options;
  const auto option = options.find(
      std::string(context.spec.build == "cmake" ? language.cmake_variable : language.variable));
  if (option != options.end()) return *option;
  const auto variable = context.variables.find(std::string(language.variable));
  if (variable != context.variables.end()) return *variable;
  return std::nullopt;
}

std::string join(const auto& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Returns the compiler, or why it is missing.
std::pair<std::optional<Tool>, std::string> find_compiler(const Language& language,
                                                          const LayerContext& context,
                                                          Toolchain& toolchain) {
  const std::string missing = std::string(language.name) + " compiler not found: ";
  if (const auto setting = setting_for(language, context)) {
    auto found = toolchain.compiler(language.name, setting->second, context.variables);
    return {found, missing + setting->first + " is '" + setting->second + "'"};
  }
  for (const std::string_view command : language.usual) {
    auto found = toolchain.compiler(language.name, command, context.variables);
    if (found) return {found, {}};
  }
  return {std::nullopt, missing + "none of " + join(language.usual) + " is on PATH"};
}

/// Programs of the build system that are not on PATH, each of them also the name of its package.
std::vector<std::string> missing_tools(const LayerContext& context, Toolchain& toolchain) {
  const auto has = [&](const char* name) {
    return toolchain.tool(name, context.variables).has_value();
  };
  const bool is_cmake = context.spec.build == "cmake";
  std::vector<std::string> missing;
  if (is_cmake && !has("cmake")) missing.emplace_back("cmake");
  if (context.spec.build != "steps" && !(is_cmake && has("ninja")) && !has("make"))
    missing.emplace_back("make");
  return missing;
}

}  // namespace

std::map<std::string, Tool> find_compilers(const LayerContext& context, Toolchain& toolchain) {
  std::map<std::string, Tool> compilers;
  std::vector<std::string> problems;
  std::string packages;
  for (const Language& language : languages) {
    const auto& wanted = context.spec.languages;
    if (std::ranges::find(wanted, language.name) == wanted.end()) continue;
    auto [found, problem] = find_compiler(language, context, toolchain);
    if (found) {
      compilers[std::string(language.name)] = *found;
    } else {
      problems.push_back(problem);
      packages += " " + std::string(language.package);
    }
  }
  if (problems.empty()) return compilers;
  // What the build would ask for next, in the same message.
  for (const std::string& tool : missing_tools(context, toolchain)) {
    problems.push_back(tool + " not found on PATH");
    packages += " " + tool;
  }
  throw_environment(place_of(context.spec.name) + ": " + join(problems),
                    "install what is missing (Debian: apt install" + packages +
                        "), load a module that has it, or set CC, CXX or FC");
}

void require_build_tools(const LayerContext& context, Toolchain& toolchain) {
  std::vector<std::string> problems;
  std::string packages;
  for (const std::string& tool : missing_tools(context, toolchain)) {
    problems.push_back(tool + " not found on PATH");
    packages += " " + tool;
  }
  if (problems.empty()) return;
  throw_environment(
      place_of(context.spec.name) + ": " + join(problems),
      "install what is missing (Debian: apt install" + packages + ") or load a module that has it");
}

Tool require_tool(const SourceBuild& build, const std::string& name) {
  if (auto found = build.toolchain.tool(name, build.environment)) return *found;
  throw_environment(place_of(build.build.lock.name) + ": " + name + " not found on PATH",
                    "install it (Debian: apt install " + name + ") or load a module that has it");
}

std::string jobs_of(const BuildLimits& limits) {
  if (limits.jobs > 0) return std::to_string(limits.jobs);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return "1";
  return std::to_string(std::max(CPU_COUNT(&cpus), 1));
}

std::map<std::string, std::string> build_with_make(const SourceBuild& build, BuildSteps& steps) {
  const LayerBuild& attempt = build.build;
  const Tool make = require_tool(build, "make");
  std::map<std::string, std::string> variables = build.options;
  // Variables on the command line override the Makefile. A compiler is passed only if requested:
  // else the Makefile's own choice is better.
  for (const Language& language : languages) {
    const auto asked = attempt.context.variables.find(std::string(language.variable));
    if (asked != attempt.context.variables.end()) variables.insert(*asked);
  }
  variables["PREFIX"] = attempt.prefix.string();
  variables["prefix"] = attempt.prefix.string();

  std::vector<std::string> argv{make.command.front(), "-j", jobs_of(attempt.limits)};
  std::vector<std::string> install{make.command.front(), "install"};
  for (const auto& [name, value] : variables) {
    argv.push_back(name + "=" + value);
    install.push_back(name + "=" + value);
  }
  steps.run("compiling with make", argv, build.source);
  steps.run("installing", install, build.source);
  return {{"tool.make", make.identity}};
}

std::vector<std::string> expand_step(const std::vector<std::string>& step,
                                     const std::map<std::string, std::string>& values,
                                     const std::string& place) {
  std::vector<std::string> argv;
  for (const std::string& word : step)
    argv.push_back(spec::expand(word, values, place));
  return argv;
}

std::map<std::string, std::string> build_with_steps(const SourceBuild& build, BuildSteps& steps) {
  const LayerBuild& attempt = build.build;
  const std::map<std::string, std::string> values{{"prefix", attempt.prefix.string()},
                                                  {"source", build.source.string()},
                                                  {"jobs", jobs_of(attempt.limits)}};
  const auto& wanted = attempt.context.spec.steps;
  const std::string count = std::to_string(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string place = place_of(attempt.lock.name) + ": step " + std::to_string(i + 1);
    steps.run("running step " + std::to_string(i + 1) + " of " + count,
              expand_step(wanted[i], values, place),
              build.source);
  }
  return {};
}

std::map<std::string, std::string> build_with_cmake(const SourceBuild& build, BuildSteps& steps) {
  const LayerBuild& attempt = build.build;
  const Tool cmake = require_tool(build, "cmake");
  const bool ninja = build.toolchain.tool("ninja", build.environment).has_value();
  if (!ninja) require_tool(build, "make");
  const std::string generator = ninja ? "Ninja" : "Unix Makefiles";
  const fs::path folder = attempt.work / "build";
  const fs::path script = attempt.work / "prefix_map.cmake";
  base::write_file_atomically(
      script, prefix_map_script(build.source, folder), base::Durability::ordered_only);

  std::map<std::string, std::string> options{
      {"CMAKE_EXPORT_NO_PACKAGE_REGISTRY", "ON"},
      {"CMAKE_FIND_USE_PACKAGE_REGISTRY", "OFF"},
      {"CMAKE_INSTALL_RPATH",
       attempt.prefix.string() + "/lib;" + attempt.prefix.string() + "/lib64"},
      {"CMAKE_INSTALL_RPATH_USE_LINK_PATH", "ON"},
      {"CMAKE_PROJECT_INCLUDE", script.string()}};
  for (const auto& [name, value] : build.options)
    options[name] = value;
  options["CMAKE_INSTALL_PREFIX"] = attempt.prefix.string();

  const std::string program = cmake.command.front();
  std::vector<std::string> configure{
      program, "-S", build.source.string(), "-B", folder.string(), "-G", generator};
  for (const auto& [name, value] : options)
    configure.push_back("-D" + name + "=" + value);
  steps.run("configuring with cmake", configure, attempt.work);
  steps.run("compiling",
            {program, "--build", folder.string(), "--parallel", jobs_of(attempt.limits)},
            attempt.work);
  steps.run("installing", {program, "--install", folder.string()}, attempt.work);
  return {{"tool.cmake", cmake.identity}, {"tool.generator", generator}};
}

base::Environment autotools_environment(const SourceBuild& build) {
  base::Environment environment = build.environment;
  append(environment, "LDFLAGS", rpath_flags(build.build));
  map_prefix(environment, build);
  // Older projects use this name for Fortran.
  if (environment.contains("FC")) environment.insert({"F77", environment.at("FC")});
  return environment;
}

std::map<std::string, std::string> build_with_autotools(const SourceBuild& build,
                                                        BuildSteps& steps) {
  const LayerBuild& attempt = build.build;
  const Tool make = require_tool(build, "make");
  std::map<std::string, std::string> used{{"tool.make", make.identity}};
  if (!is_there(build.source / "configure")) {
    if (!is_there(build.source / "configure.ac") && !is_there(build.source / "configure.in")) {
      throw_environment(place_of(attempt.lock.name) + ": the source has no configure script",
                        "\"path\" leads to the folder within that has it; other builds are "
                        "\"cmake\", \"make\" and \"steps\"");
    }
    const Tool autoreconf = require_tool(build, "autoreconf");
    steps.run("making configure", {autoreconf.command.front(), "-fi"}, build.source);
    used["tool.autoreconf"] = autoreconf.identity;
  }
  std::vector<std::string> configure{"./configure", "--prefix=" + attempt.prefix.string()};
  for (const auto& [name, value] : build.options)
    configure.push_back("--" + name + (value.empty() ? "" : "=" + value));
  steps.run("configuring", configure, build.source);
  steps.run("compiling", {make.command.front(), "-j", jobs_of(attempt.limits)}, build.source);
  steps.run("installing", {make.command.front(), "install"}, build.source);
  return used;
}

}  // namespace sabath::env
