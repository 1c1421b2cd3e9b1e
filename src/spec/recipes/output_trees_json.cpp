#include "output_trees_json.hpp"

#include "documents/document_json.hpp"

#include <sabath/spec/output_trees.hpp>

namespace sabath::spec {

std::string text_of(const OutputTrees& trees) {
  return document_of(trees).dump() + "\n";
}

OutputTrees parse_output_trees(std::string_view text, const std::string& origin) {
  return parse_document<OutputTrees>(text, origin);
}

}  // namespace sabath::spec
