#pragma once

#include <sabath/assets/fetch_assets.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/planning/run_request.hpp>
#include <sabath/spec/asset.hpp>

#include <map>
#include <string>

namespace sabath::app {

/// A user's call of an asset's script.
struct ScriptCall {
  std::string script{};
  std::map<std::string, std::string> arguments{};  ///< --arg NAME=VALUE, as text
  bool fresh = false;                              ///< run it even if the same was run before
  bool offline = false;
  std::string variant{};  ///< of the asset's environment; empty: the site's choice, else the first
};

/// Throws Error{not_found} for an unknown script. Throws Error{usage} with everything wrong with
/// the arguments, or for a variant that the asset's environment lacks.
void check_call(const spec::Asset& asset, const ScriptCall& call);

/// Returns the request that applies the script to just what was fetched. Writes the script's recipe
/// into a folder of the state, so that it is a recipe like others. Throws as `check_call`, and
/// Error{storage}.
planning::RunRequest script_request(const spec::Asset& asset,
                                    const assets::FetchedAsset& fetched,
                                    const ScriptCall& call,
                                    const home::Folders& folders);

}  // namespace sabath::app
