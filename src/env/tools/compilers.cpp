#include "compilers.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace sabath::env {
namespace {

using Setting = std::pair<std::string, std::string>;

/// The name and the value of what says which compiler to take, if anything does.
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
  std::string text;
  for (const auto& word : words)
    text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

/// The compiler, or why there is none.
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

}  // namespace

std::map<std::string, Tool> find_compilers(const LayerContext& context, Toolchain& toolchain) {
  std::map<std::string, Tool> compilers;
  std::vector<std::string> problems;
  std::string packages;
  for (const Language& language : languages) {
    const auto& wanted = context.spec.languages;
    if (std::find(wanted.begin(), wanted.end(), language.name) == wanted.end()) continue;
    auto [found, problem] = find_compiler(language, context, toolchain);
    if (found) {
      compilers[std::string(language.name)] = *found;
    } else {
      problems.push_back(problem);
      packages += " " + std::string(language.package);
    }
  }
  if (problems.empty()) return compilers;
  throw base::Error(base::ErrorKind::environment,
                    place_of(context.spec.name) + ": " + join(problems),
                    "install what is missing (Debian: apt install" + packages +
                        "), load a module that has it, or set CC, CXX or FC");
}

}  // namespace sabath::env
