#pragma once

#include <sabath/exchange/imported_asset.hpp>

#include <functional>
#include <string>
#include <vector>

namespace sabath::exchange {

/// A document of the Python SABATH.
struct UpstreamDocument {
  std::string name{};  ///< of its file, without ".json"
  std::string text{};
};

/// What a set of documents becomes.
struct UpstreamImport {
  std::vector<ImportedAsset> assets{};  ///< data sets, models, and data sets of the models' code
  struct Recipe {
    std::string name{};
    std::string document{};  ///< of recipe.json
  };
  std::vector<Recipe> recipes{};  ///< one for each model that has commands
};

/// Gives the commit that a branch or tag ("refs/tags/v1") of a repository is now; no `reference`
/// means its HEAD. Gives an empty text where it is not known.
using CommitLookup =
    std::function<std::string(const std::string& repository, const std::string& reference)>;

/// Reads data sets and models of the Python SABATH. A model's recipe uses the data sets that are
/// read with it. A model's code is open unless its document, `commit` or `commit_of` pins it.
/// Throws Error{usage} that names the document and the member.
UpstreamImport read_upstream(const std::vector<UpstreamDocument>& documents,
                             const std::string& commit = {},
                             const CommitLookup& commit_of = {});

}  // namespace sabath::exchange
