#pragma once

#include <sabath/base/error.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/home/folders.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sabath::analysis {

/// Something that needs a run.
struct RunNeed {
  std::string run{};
  std::string why{};  ///< "study ID has it"

  bool operator==(const RunNeed&) const = default;
};

/// Returns what refers to runs that somebody wants to remove: studies, runs that repeat or explain
/// them or took a stage of theirs, assets that they generated, and remembered baselines. Runs that
/// are removed together do not need each other.
std::vector<RunNeed> needs_of(const std::vector<catalog::RunRow>& runs,
                              const catalog::Catalog& catalog,
                              const home::Folders& folders);

/// Returns why this user may not archive or remove a run, or nothing. Error{usage}: it has not
/// ended. Error{storage}: it belongs to another user, others can write to it, or it lies in another
/// home.
std::optional<base::Error> why_not_ours(const catalog::RunRow& run, const home::Folders& folders);

}  // namespace sabath::analysis
