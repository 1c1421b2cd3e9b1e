#pragma once

#include "upstream/upstream_data_json.hpp"

namespace sabath::exchange {

/// Adds a model, the data set of its code where a commit is known, and its recipe.
void add_upstream_model(base::JsonReader root,
                        const std::string& file,
                        const std::string& commit,
                        const std::vector<UpstreamData>& data,
                        UpstreamImport& to);

}  // namespace sabath::exchange
