#pragma once

#include "upstream/upstream_data_json.hpp"

#include <sabath/exchange/upstream.hpp>

namespace sabath::exchange {

/// What pins the code of a model whose document has no commit.
struct CodePin {
  std::string commit{};
  CommitLookup commit_of{};
};

/// Adds a model, the data set of its code where a commit is known, and its recipe.
void add_upstream_model(base::JsonReader root,
                        const std::string& file,
                        const CodePin& pin,
                        const std::vector<UpstreamData>& data,
                        UpstreamImport& to);

}  // namespace sabath::exchange
