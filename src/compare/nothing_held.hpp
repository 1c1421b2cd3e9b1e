#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/spec/output_trees.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::compare {

/// Whether a reader added the path to what a file lists: "x@(type)", "(graph)". Trees of digests
/// from an earlier sabath may lack it.
bool is_added_by_reader(std::string_view path);

/// Whether no values exist. Two such containers show no agreement. Attributes count only
/// without arrays: those of an empty array only describe it.
bool hold_nothing(const std::vector<base::ArrayInfo>& arrays);
bool hold_nothing(const spec::OutputTrees& trees);

std::string nothing_held_text(const std::string& name);

/// Paths of arrays (not of attributes) that have only NaN. Reading an array stops after the first
/// block with a number.
std::vector<std::string> arrays_of_only_nan(base::ArraySource& source);
std::vector<std::string> arrays_of_only_nan(const spec::OutputTrees& trees);

}  // namespace sabath::compare
