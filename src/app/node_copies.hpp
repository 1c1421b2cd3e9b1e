#pragma once

#include "staged_copy.hpp"

#include <sabath/base/process.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/env/environment_image.hpp>
#include <sabath/spec/batch.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/site.hpp>

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::app {

/// What of a run is to lie on the disk of each node that executes it.
struct WantedCopies {
  struct Item {
    std::string key{};  ///< names the content
    /// As the plan names it: an input, or the prefix of a layer.
    std::filesystem::path source{};
    std::optional<env::PrefixImage> image{};  ///< that a prefix is unpacked from
  };
  std::string folder{};    ///< as the site says it, with its variable
  std::string name{};      ///< of whoever they are lent to: the run
  base::WallTime until{};  ///< and how long at most
  std::vector<Item> items{};
};

/// The data sets and images that the site wants to be copied. Of images that somebody could have
/// written who is not trusted, and where this system does not let users mount them, none, which is
/// told.
WantedCopies wanted_copies(const spec::RunPlan& plan,
                           const spec::Staging& staging,
                           const base::Trust& trust,
                           base::Observer& observer);

/// Can images be put in the places of prefixes on this system? Told where not.
bool may_use_images(base::Observer& observer);
/// The end of a job's time, from now.
base::WallTime lent_until(const spec::BatchPlan& batch, std::size_t step, base::WallTime now);

/// A copy on this node, in use by this process.
struct HeldCopy {
  WantedCopies::Item item{};
  StagedCopy copy;
};
/// What cannot be copied is told and left out. Throws Error{interrupted}.
std::vector<HeldCopy> make_copies(const WantedCopies& wanted,
                                  const base::Environment& environment,
                                  base::ProcessRunner& processes,
                                  base::Clock& clock,
                                  base::Observer& observer,
                                  const std::stop_token& stop);
/// Those that lie on this node already.
std::vector<HeldCopy> find_copies(const WantedCopies& wanted,
                                  const base::Environment& environment,
                                  base::Clock& clock);
/// Lets stages of one node see a copy of an input where they would see the input: those of a job
/// of so many nodes that start processes on others by themselves do not.
void see_copy(const HeldCopy& held, int job_nodes, spec::RunPlan& plan);
/// Of images, as `env::see_local_prefixes` wants them.
std::vector<env::LocalPrefix> prefixes_of(const std::vector<HeldCopy>& copies);

/// What an `exec` wants on other nodes, in the folder of its attempt; nothing: no copies.
std::optional<WantedCopies> read_wanted_copies(const std::filesystem::path& attempt);

/// The copies on all nodes of a job, for ranks that are started there. They are made by a process
/// on each node before the first of these stages, outlive that process, and are removed by another
/// in the end. What cannot be is told: then ranks read where everything is.
class NodeCopies {
 public:
  NodeCopies(const WantedCopies& wanted,
             std::filesystem::path attempt,
             std::filesystem::path program,
             base::ProcessRunner& processes,
             base::Observer& observer,
             std::function<void(const std::string&)> tell);
  ~NodeCopies();
  NodeCopies(const NodeCopies&) = delete;
  NodeCopies& operator=(const NodeCopies&) = delete;

  /// `starter` starts a process on each node. Once; whoever comes meanwhile waits.
  /// Throws Error{interrupted}.
  void make(base::Command starter, const std::stop_token& stop);

 private:
  base::ProcessResult run(const char* what, const std::stop_token& stop);

  std::filesystem::path attempt_;
  std::filesystem::path program_;
  base::ProcessRunner& processes_;
  base::Observer& observer_;
  std::function<void(const std::string&)> tell_;  ///< what takes long now; an empty text: nothing
  std::mutex mutex_{};
  std::optional<base::Command> starter_{};
};

}  // namespace sabath::app
