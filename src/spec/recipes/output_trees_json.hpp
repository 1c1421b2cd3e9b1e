#pragma once

#include "documents/fields_json.hpp"

#include <sabath/spec/output_trees.hpp>

namespace sabath::spec {

SABATH_DESCRIBE(ChunkDigest, exact, rounded, nans);

template <class Io>
void describe(Io& io, FieldRef<Io, ArrayTree> tree) {
  SABATH_FIELDS(io, tree, path, is_attribute, type, shape, column_major);
  io("unreadable", tree.unreadable, "why it has no chunks");
  io("chunk", tree.chunk, "elements of a chunk");
  io("absolute", tree.absolute, "the tolerance that was rounded to");
  SABATH_FIELDS(io, tree, relative, root, chunks);
}

template <class Io>
void describe(Io& io, FieldRef<Io, OutputTrees> trees) {
  io("arrays", trees.arrays);
}

}  // namespace sabath::spec
