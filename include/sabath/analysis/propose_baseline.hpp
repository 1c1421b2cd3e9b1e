#pragma once

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/comparison.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sabath::analysis {

struct ProposalRequest {
  std::string selection{};  ///< as typed
  bool any_site = false;    ///< valid for all sites
  bool any_device = false;  ///< valid for all devices; without times
  NamedRuns named{};
};

/// Change of one metric from the accepted entry to the proposed one.
struct ProposedChange {
  std::size_t entry = 0;
  std::string metric{};
  bool performance = false;
  std::optional<spec::BaselineMetric> before{};  ///< nothing: new metric
  std::optional<spec::BaselineMetric> after{};   ///< nothing: removed metric
  std::optional<spec::Verdict> verdict{};        ///< of the new values against the old
  std::string reason{};
};

struct Proposal {
  spec::Baseline baseline{};
  std::vector<std::size_t> proposed{};  ///< indices of new entries
  std::vector<ProposedChange> changes{};
  std::vector<std::string> notes{};
};

/// Proposes a baseline from the runs that count: an entry for each recipe definition, parameters,
/// data, site and device. Keeps the entries of `present`, except unaccepted ones for the same key.
/// The same runs give the same entries. Throws Error{usage} for runs of several recipes, of another
/// recipe than `present`, and without complete runs.
Proposal propose_baseline(const std::vector<catalog::RunRow>& rows,
                          const ProposalRequest& request,
                          spec::Baseline present,
                          const catalog::Catalog& catalog);

}  // namespace sabath::analysis
