#pragma once

#include "keep_outputs.hpp"
#include "record/run_software.hpp"
#include "stage_reads.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/known_secrets.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/env/environment_image.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/parallel_prefix.hpp>
#include <sabath/provenance/code_watch.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// A stage after it ran, was reused or was skipped.
struct StageResult {
  spec::StageRecord record{};
  std::vector<spec::OutputRecord> outputs{};
  std::uint64_t masked = 0;  ///< known secrets in its logs

  bool ok() const { return record.state == "ok" || record.state == "reused"; }
};

/// Runs stages of one attempt of one plan. One thread; several runners may run several stages.
class StageRunner {
 public:
  struct Tools {
    base::ProcessRunner& processes;
    cache::Cache& cache;
    base::Clock& clock;
    base::Observer& observer;
    const base::KnownSecrets& secrets;  ///< not to be shown by the logs
    RunSoftware& software;
    OutputStamps& stamps;
    provenance::CodeWatch& code;
    std::filesystem::path program{};        ///< this sabath
    std::vector<env::LocalPrefix> local{};  ///< copies that are used in place of prefixes
    std::shared_future<void> trust{};       ///< throws where others could change what would be run
    std::filesystem::path control_group{};  ///< in which commands begin; may be empty
    std::string prefix{};                   ///< of parallel stages, as the site wants it
    std::filesystem::path scratch{};        ///< where work folders lie; empty: with the logs
    std::uint64_t largest_log = 0;          ///< of stdout and of stderr; 0: no limit
    std::chrono::nanoseconds grace{};       ///< of stages that say none
    int nodes = 1;                          ///< of the job
  };
  StageRunner(Tools tools, const spec::RunPlan& plan, const home::RunFiles& files, int attempt);

  /// Reuses a cached stage's outputs where its key was seen before, else runs its command, checks
  /// that the declared outputs are there, and hashes them. A failed command is a result, after the
  /// tries that the recipe grants, and so is what goes wrong before or after it, with all that is
  /// known by then. `place` is what the stage has to itself beside others; the calling thread is
  /// bound to it.
  StageResult run(const spec::PlannedStage& stage,
                  const std::optional<spec::Place>& place,
                  const MadeOutputs& made,
                  std::stop_token stop);
  /// Where a stage's logs and metrics are.
  std::filesystem::path directory(const std::string& stage) const;

 private:
  /// One stage's way through its tries.
  struct Try {
    const spec::PlannedStage& stage;
    const std::optional<spec::Place>& place;
    const MadeOutputs& made;
    int number = 1;
    std::optional<planning::ParallelPrefix> prefix{};
  };
  /// What a cached stage's outputs are kept under.
  struct Key {
    std::string text{};
    std::string why_not{};  ///< there is none: not all that it may read is known
  };
  /// Of what the stage would read if it began now.
  Key key_of(const spec::PlannedStage& stage,
             const MadeOutputs& made,
             const std::stop_token& stop) const;
  bool reuse(const spec::PlannedStage& stage, const std::string& key, StageResult& result);
  void reuse_or_execute(Try& one, const Key& key, StageResult& result, const std::stop_token& stop);
  void execute_and_keep(Try& one, const Key& key, StageResult& result, const std::stop_token& stop);
  void reuse_trees(const cache::StageOutputs& known, spec::OutputRecord& output) const;
  void execute(Try& one, StageResult& result, std::stop_token stop);
  void lay_out(const Try& one) const;
  base::ProcessResult try_once(const Try& one, StageResult& result, std::stop_token stop);
  base::Command command_for(const Try& one) const;
  base::Environment own_variables(const Try& one) const;
  /// What starts the ranks of a parallel stage; nothing: it is none. Throws Error{launch}.
  std::optional<planning::ParallelPrefix> prefix_of(const spec::PlannedStage& stage) const;
  /// The same command behind what starts its ranks.
  std::vector<std::string> in_parallel(const Try& one, std::vector<std::string> argv) const;
  /// On the host, or in the container that the environment ends with. How the command ended is in
  /// the record even where this throws.
  base::ProcessResult run_command(const Try& one,
                                  spec::StageRecord& record,
                                  std::stop_token stop) const;
  void hash_outputs(const spec::PlannedStage& stage,
                    StageResult& result,
                    const std::stop_token& stop) const;
  void keep(const spec::PlannedStage& stage, const std::string& key, StageResult& result);
  void tell_not_reusable(const std::string& why, spec::StageRecord& record) const;

  Tools tools_;
  const spec::RunPlan& plan_;
  home::RunFiles files_;
  int attempt_;
};

}  // namespace sabath::execution
