#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/spec/output_trees.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::compare {

/// What readers add of their own to what a file lists: "x@(type)", "(graph)". Trees of digests that
/// an earlier sabath made may lack it.
bool is_added_by_reader(std::string_view path);

/// Is there no value among them? Two such containers agree in nothing. Attributes count only where
/// there is no array at all: those of an empty array only describe it.
bool hold_nothing(const std::vector<base::ArrayInfo>& arrays);
bool hold_nothing(const spec::OutputTrees& trees);

std::string nothing_held_text(const std::string& name);

}  // namespace sabath::compare
