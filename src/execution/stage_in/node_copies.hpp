#pragma once

#include "staged_copy.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/env/environment_image.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/site.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// What of a run is to lie on the disk of each node that executes it.
struct WantedCopies {
  struct Item {
    std::string key{};  ///< names the content
    /// As the plan names it: an input, or the prefix of a layer.
    std::filesystem::path source{};
    std::optional<env::PrefixImage> image{};  ///< that a prefix is unpacked from
  };
  std::string folder{};  ///< as the site says it, with its variable
  std::string holder{};  ///< whom they are lent to: a run, and which attempt of it
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
/// Those that were made on this node for ranks.
std::vector<HeldCopy> find_copies(const WantedCopies& wanted,
                                  const base::Environment& environment,
                                  base::Clock& clock);
/// Gives back on this node what was made for ranks, and removes it unless others use it.
void end_loans(const WantedCopies& wanted,
               const base::Environment& environment,
               base::Clock& clock);

/// Does a stage in a job of so many nodes read the copies that `exec` has? Not where it may start
/// processes on other nodes by itself.
bool sees_copies(const spec::PlannedStage& stage, int job_nodes);
/// Lets such stages see a copy of an input where they would see the input.
void see_copy(const HeldCopy& held, int job_nodes, spec::RunPlan& plan);
/// Of images, as `env::see_local_prefixes` wants them.
std::vector<env::LocalPrefix> prefixes_of(const std::vector<HeldCopy>& copies);

/// Where an `exec` tells its ranks what is to be on their nodes.
std::filesystem::path copies_file(const std::filesystem::path& attempt);
void write_wanted_copies(const std::filesystem::path& file, const WantedCopies& wanted);
/// Nothing where there is no such file. Throws Error{usage}.
std::optional<WantedCopies> read_wanted_copies(const std::filesystem::path& file);

/// What starts the ranks of those stages that have some on other nodes, each once. What cannot be
/// started the stage tells.
std::vector<base::Command> starters_of(const std::vector<spec::PlannedStage>& stages,
                                       int job_nodes,
                                       const spec::RunPlan& plan,
                                       const std::string& site_prefix);

/// The copies on all nodes of a job, for ranks that are started there. What starts the ranks starts
/// processes that make them before, and others that remove them in the end: of those on one node
/// the first does it. What cannot be is told: then ranks read where everything is.
class NodeCopies {
 public:
  struct Tools {
    std::filesystem::path program{};  ///< this sabath
    base::ProcessRunner& processes;
    base::Clock& clock;
    base::Observer& observer;
  };
  NodeCopies(WantedCopies wanted, const std::filesystem::path& attempt, Tools tools);
  ~NodeCopies();
  NodeCopies(const NodeCopies&) = delete;
  NodeCopies& operator=(const NodeCopies&) = delete;

  /// Once. Throws Error{interrupted}.
  void make(std::vector<base::Command> starters, const std::stop_token& stop);
  /// Those on this node.
  std::vector<HeldCopy> here() const;

 private:
  base::ProcessResult run(base::Command command,
                          const char* what,
                          const std::filesystem::path& file,
                          const std::stop_token& stop) const;

  WantedCopies wanted_;
  std::filesystem::path file_;
  Tools tools_;
  std::vector<base::Command> starters_{};
};

}  // namespace sabath::execution
