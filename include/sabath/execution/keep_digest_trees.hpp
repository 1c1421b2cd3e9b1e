#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/output_trees.hpp>
#include <sabath/spec/stage_record.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

namespace sabath::execution {

/// Writes the digests of the values of a hashed output, rounded as its recipe says, and notes that
/// in its record. Skips outputs below 1 MiB or without arrays. Warns of failures, which fail
/// nothing: the output itself exists. Throws Error{interrupted}.
void keep_trees(spec::OutputRecord& output,
                const home::RunFiles& files,
                const std::string& recipe_text,
                base::Observer& observer,
                const std::stop_token& stop);

/// Where they are kept.
std::filesystem::path trees_file(const home::RunFiles& files, const spec::OutputRecord& output);

/// What was kept; nothing where it is gone. Throws Error{integrity} where it was changed since.
std::optional<spec::OutputTrees> read_trees(const home::RunFiles& files,
                                            const spec::OutputRecord& output);

}  // namespace sabath::execution
