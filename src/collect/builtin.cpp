#include "jsonl_extractor.hpp"

namespace sabath::collect {

std::vector<std::unique_ptr<Extractor>> builtin_extractors() {
  std::vector<std::unique_ptr<Extractor>> extractors;
  extractors.push_back(make_jsonl_extractor());
  return extractors;
}

}  // namespace sabath::collect
