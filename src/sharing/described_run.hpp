#pragma once

#include <sabath/sharing/import_crate.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>

namespace sabath::sharing {

/// Reads the record of a run that came in a crate, and checks it. Its plan is of the same run and
/// recipe, its names are names, and no stage names a file outside of the recipe's folder. Throws
/// Error{integrity} for a record that contradicts its plan, Error{usage} for such a stage.
spec::RunRecord checked_record(const std::filesystem::path& place,
                               const std::filesystem::path& run);

/// Fills in what a repetition fetches, builds and executes, for the user to judge: by the recipe
/// that it executes, not by what the record says of the past. `assets` has the documents of inputs.
void describe_run(const spec::RunRecord& record,
                  const std::filesystem::path& assets,
                  ImportedRun& run);

}  // namespace sabath::sharing
