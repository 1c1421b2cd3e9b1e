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
  std::string selection{};  ///< as it was typed
  bool any_site = false;    ///< it is to hold for all of them
  bool any_device = false;  ///< the same; then times are left out
  NamedRuns named{};
};

/// How one metric of a proposed entry stands to what is accepted now.
struct ProposedChange {
  std::size_t entry = 0;
  std::string metric{};
  bool performance = false;
  std::optional<spec::BaselineMetric> before{};  ///< nothing: there is none
  std::optional<spec::BaselineMetric> after{};   ///< nothing: it is gone
  std::optional<spec::Verdict> verdict{};        ///< of the new values against the old
  std::string reason{};
};

struct Proposal {
  spec::Baseline baseline{};
  std::vector<std::size_t> proposed{};  ///< which of its entries are new
  std::vector<ProposedChange> changes{};
  std::vector<std::string> notes{};
};

/// What the runs that count would be as a baseline: an entry for each recipe definition,
/// parameters, data, site and device among them. The entries of `present` stay, but for those that
/// nobody accepted and that hold for the same. The same runs give the same entries. Throws
/// Error{usage} for runs of several recipes, of another than that of `present`, and where none is
/// complete.
Proposal propose_baseline(const std::vector<catalog::RunRow>& rows,
                          const ProposalRequest& request,
                          spec::Baseline present,
                          const catalog::Catalog& catalog);

}  // namespace sabath::analysis
