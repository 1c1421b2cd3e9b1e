#pragma once

#include "staged_copy.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/env/prefix_image.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/site.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// What the disk of each node that executes a run should have.
struct WantedCopies {
  struct Item {
    std::string key{};  ///< names the content
    /// As in the plan: an input, or the prefix of a layer.
    std::filesystem::path source{};
    std::optional<env::PrefixImage> image{};  ///< that a prefix is unpacked from
  };
  std::string folder{};  ///< as in the site, with its variable
  std::string holder{};  ///< run and attempt that keep them
  std::vector<Item> items{};
};

/// Returns the data sets and images that the site wants to be copied. Without images that an
/// untrusted user could have written, or where this system does not let users mount them; warns of
/// those.
WantedCopies wanted_copies(const spec::RunPlan& plan,
                           const spec::Staging& staging,
                           const base::Trust& trust,
                           base::Observer& observer);
/// Returns true where this system can mount images in the places of prefixes; else warns.
bool may_use_images(base::Observer& observer);

/// A copy on this node, in use by this process.
struct HeldCopy {
  WantedCopies::Item item{};
  StagedCopy copy;
};
/// Warns of what cannot be copied, and leaves it out. Throws Error{interrupted}.
std::vector<HeldCopy> make_copies(const WantedCopies& wanted,
                                  const base::Environment& environment,
                                  base::ProcessRunner& processes,
                                  base::Clock& clock,
                                  base::Observer& observer,
                                  const std::stop_token& stop);
/// Returns the copies that were made on this node for ranks.
std::vector<HeldCopy> find_copies(const WantedCopies& wanted,
                                  const base::Environment& environment,
                                  base::Clock& clock);
/// Gives back what was made for ranks on this node, and removes it unless others use it.
void end_loans(const WantedCopies& wanted,
               const base::Environment& environment,
               base::Clock& clock);

/// Returns whether a stage in a job of `job_nodes` nodes reads the copies of `exec`. False where it
/// may start processes on other nodes by itself.
bool sees_copies(const spec::PlannedStage& stage, int job_nodes);
/// Makes such stages see a copy of an input in place of the input.
void see_copy(const HeldCopy& held, int job_nodes, spec::RunPlan& plan);
/// Returns copies of images, as `env::see_local_prefixes` takes them.
std::vector<env::LocalPrefix> prefixes_of(const std::vector<HeldCopy>& copies);

/// Returns the file by which an `exec` tells its ranks what their nodes should have.
std::filesystem::path copies_file(const std::filesystem::path& attempt);
void write_wanted_copies(const std::filesystem::path& file, const WantedCopies& wanted);
/// Returns nothing without such a file. Throws Error{usage}.
std::optional<WantedCopies> read_wanted_copies(const std::filesystem::path& file);

/// Returns the commands that start ranks on other nodes, each once. The stage reports a command
/// that cannot be started.
std::vector<base::Command> starters_of(const std::vector<spec::PlannedStage>& stages,
                                       int job_nodes,
                                       const spec::RunPlan& plan,
                                       const std::string& site_prefix);

/// Copies on all nodes of a job, for the ranks there. The starter of the ranks starts processes
/// that make them, and later processes that remove them; on each node the first process does the
/// work. Warns of what fails: then ranks read from the shared file system.
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

  /// Call once. Throws Error{interrupted}.
  void make(std::vector<base::Command> starters, const std::stop_token& stop);
  /// Returns the copies on this node.
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
