#pragma once

#include <sabath/planning/run_request.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/explanation.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sabath::app {

/// Two runs, and the requests that repeat them.
struct RunPair {
  spec::RunRecord a{};
  spec::RunRecord b{};
  planning::RunRequest request_a{};
  planning::RunRequest request_b{};
  std::filesystem::path state_directory{};  ///< with the key of the home's digests
};

/// A difference, and how a request for A takes it from B.
struct CandidateChange {
  spec::Change change{};
  std::function<void(planning::RunRequest& request)> apply{};
};

struct CandidateChanges {
  std::vector<CandidateChange> changes{};  ///< each name once
  std::vector<std::string> impossible{};   ///< differences that no run can have, and why
  std::set<std::string> left_out{};        ///< variables of this session that B had and A lacked
  /// Variables that A had with another value than this session: name -> digest here, or empty.
  std::map<std::string, std::string> not_as_in_a{};
};

/// Returns the differences between two runs as changes that `explain` can try. `pair` must
/// outlive the result.
CandidateChanges candidate_changes(const std::vector<spec::FacetDifference>& differences,
                                   const RunPair& pair);

}  // namespace sabath::app
