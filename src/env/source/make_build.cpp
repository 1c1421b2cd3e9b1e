#include "source_build.hpp"
#include "tools/compilers.hpp"

namespace sabath::env {

std::map<std::string, std::string> build_with_make(const SourceBuild& build, BuildSteps& steps) {
  const LayerBuild& attempt = build.build;
  const Tool make = require_tool(build, "make");
  std::map<std::string, std::string> variables = build.options;
  // On the command line they win over what a Makefile sets; a compiler that nobody asked for does
  // not: the Makefile's own choice is a better guess than the usual name.
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

}  // namespace sabath::env
