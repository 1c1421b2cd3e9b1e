#include "documents/document_json.hpp"

#include <sabath/spec/output_trees.hpp>

namespace sabath::spec {

template <class Io>
static void describe(Io& io, typename Io::template Ref<ChunkDigest> chunk) {
  io("exact", chunk.exact);
  io("rounded", chunk.rounded);
  io("nans", chunk.nans);
}

template <class Io>
static void describe(Io& io, typename Io::template Ref<ArrayTree> tree) {
  io("path", tree.path);
  io("is_attribute", tree.is_attribute);
  io("type", tree.type);
  io("shape", tree.shape);
  io("column_major", tree.column_major);
  io("unreadable", tree.unreadable);
  io("chunk", tree.chunk);
  io("absolute", tree.absolute);
  io("relative", tree.relative);
  io("root", tree.root);
  io("chunks", tree.chunks);
}

template <class Io>
static void describe(Io& io, typename Io::template Ref<OutputTrees> trees) {
  io("arrays", trees.arrays);
}

std::string text_of(const OutputTrees& trees) {
  return document_of(trees).dump() + "\n";
}

OutputTrees parse_output_trees(std::string_view text, const std::string& origin) {
  return parse_document<OutputTrees>(text, origin);
}

}  // namespace sabath::spec
