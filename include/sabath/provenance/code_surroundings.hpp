#pragma once

#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace sabath::provenance {

/// In which state the repository around a run's recipe folder was, as far as the run kept it: "the
/// commit", and by its path each file (and each submodule) that was not as committed, -> what
/// tells its state from another. Nothing where git was not asked. Files in the folder are the
/// facet `code`'s.
std::map<std::string, std::string> surroundings_of(const spec::RunRecord& record,
                                                   const std::filesystem::path& run_directory);

}  // namespace sabath::provenance
