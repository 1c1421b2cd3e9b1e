#include "layers/layer_variables.hpp"
#include "source_build.hpp"

#include <sabath/base/error.hpp>

#include <array>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

std::string argument_of(const std::string& name, const std::string& value) {
  return "--" + name + (value.empty() ? "" : "=" + value);
}

/// Adds words to a variable that the layer may have set itself.
void append(base::Environment& environment, const std::string& name, const std::string& words) {
  std::string& value = environment[name];
  value += (value.empty() ? "" : " ") + words;
}

/// Libraries in the prefix, and in those of the layers before, are found without LD_LIBRARY_PATH.
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

/// Where the source lay must not show in what is built. configure's own flags stay.
void map_prefix(base::Environment& environment, const SourceBuild& build) {
  const auto& facts = build.build.lock.facts;
  for (const auto& [language, name] :
       {std::pair{"c", "CFLAGS"}, std::pair{"c++", "CXXFLAGS"}, std::pair{"fortran", "FCFLAGS"}}) {
    const auto compiler = facts.find(std::string("compiler.") + language);
    if (compiler == facts.end()) continue;
    // What tells its machine is GCC, Clang, or acts like them.
    if (compiler->second.find("; ") == std::string::npos) continue;
    if (environment[name].empty()) environment[name] = "-g -O2";
    append(environment, name, "-ffile-prefix-map=" + build.source.string() + "=source");
  }
}

}  // namespace

base::Environment autotools_environment(const SourceBuild& build) {
  base::Environment environment = build.environment;
  append(environment, "LDFLAGS", rpath_flags(build.build));
  map_prefix(environment, build);
  // Older projects know Fortran by this name.
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
      throw base::Error(base::ErrorKind::environment,
                        place_of(attempt.lock.name) + ": the source has no configure script",
                        "\"path\" leads to the folder within that has it; other builds are "
                        "\"cmake\", \"make\" and \"steps\"");
    }
    const Tool autoreconf = require_tool(build, "autoreconf");
    steps.run("making configure", {autoreconf.command.front(), "-fi"}, build.source);
    used["tool.autoreconf"] = autoreconf.identity;
  }
  std::vector<std::string> configure{"./configure", "--prefix=" + attempt.prefix.string()};
  for (const auto& [name, value] : build.options)
    configure.push_back(argument_of(name, value));
  steps.run("configuring", configure, build.source);
  steps.run("compiling", {make.command.front(), "-j", jobs_of(attempt.limits)}, build.source);
  steps.run("installing", {make.command.front(), "install"}, build.source);
  return used;
}

}  // namespace sabath::env
