#pragma once

#include <sabath/spec/asset.hpp>
#include <sabath/spec/recipe.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

struct ScriptArgument {
  Parameter parameter{};
  bool must_be_given = false;  ///< the command names it and no document declares it: a text
};

/// What can be said to a script, and to those that it needs. Throws Error{not_found} for an unknown
/// script, with the nearest as hint.
std::vector<ScriptArgument> arguments_of(const Asset& asset, std::string_view script);

/// Returns the recipe that a script of an asset is. The script and each that it needs is a cached
/// stage. The arguments are parameters, and the asset is the data set of role "asset". Throws as
/// `arguments_of`.
Recipe script_recipe(const Asset& asset, std::string_view script);

/// Fixed parameters of the recipe that is made of a command without one: its words, and each script
/// that they name, with its digest. From the second script on a number follows the name.
inline constexpr std::string_view words_parameter = "words";
inline constexpr std::string_view script_parameter = "script";
/// Name of the one stage of such a recipe.
inline constexpr std::string_view command_stage = "command";

/// A command that is run without a recipe.
struct DirectCommand {
  std::vector<std::string> words{};
  std::string directory{};  ///< where it starts, and whose repository counts
};

}  // namespace sabath::spec
