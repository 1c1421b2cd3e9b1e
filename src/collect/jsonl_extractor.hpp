#pragma once

#include <sabath/collect/collect.hpp>

#include <memory>

namespace sabath::collect {

/// JSON lines in metrics-<rank>.jsonl, one file a rank.
std::unique_ptr<Extractor> make_jsonl_extractor();

}  // namespace sabath::collect
