#pragma once

#include "execution_context.hpp"
#include "run_software.hpp"
#include "run_stages.hpp"

#include <sabath/base/error.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// The record of a run while the run is executed: stages, software, metrics, determinism, facets.
class RecordBuilder {
 public:
  RecordBuilder(const ExecutionContext& context, std::stop_token own_stop)
      : context_(context), own_stop_(std::move(own_stop)) {}

  spec::RunRecord& record() { return record_; }
  bool is_ok() const { return record_.state == spec::RunState::ok; }
  /// Starts the clock of attempt `number`.
  void start(int number);
  void add_masked(std::uint64_t secrets) { masked_ += secrets; }
  /// Puts the job, after those of earlier steps, into the record.
  void add_jobs();
  void take_stages(StagesOutcome outcome);
  /// Takes what was found while the stages ran, on other nodes, and by earlier steps.
  void take_software(FoundSoftware software);
  /// The first failure says how the run ended; later ones are added to its message.
  void fail(const base::Error& error);
  /// Collects metrics, of failed runs too: they show how far it came.
  void collect_metrics();
  /// Takes what earlier steps found where a failure came before this step's stages.
  void keep_earlier();
  /// Fills in what the record of a step has.
  void fill_step();
  /// Fills in what the record of a run has.
  void fill();

 private:
  double seconds() const;
  void take_ranks();
  void take_earlier();

  const ExecutionContext& context_;
  std::stop_token own_stop_;
  spec::RunRecord record_{};
  int attempt_ = 0;
  base::SteadyTime started_{};
  FoundSoftware software_{};
  std::vector<std::string> executed_{};  ///< stages whose metrics are collected
  bool has_earlier_ = false;             ///< in the record
  std::uint64_t masked_ = 0;
};

}  // namespace sabath::execution
