#pragma once

#include "keep_outputs.hpp"
#include "run_software.hpp"
#include "stage_reads.hpp"

#include <sabath/execution/node_settings.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/batch.hpp>
#include <sabath/spec/run_plan.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::execution {

// Several jobs execute a run whose stages need different machines. attempts/<n>/step-<k>.json is
// the record of all steps so far, from which the next step continues.

std::filesystem::path step_file(const home::RunFiles& files, int attempt, std::size_t step);

/// Returns the stages of a step, in the plan's order. Throws Error{usage} for an unknown step or
/// stage.
std::vector<spec::PlannedStage> stages_of_step(const spec::RunPlan& plan,
                                               const spec::BatchPlan& batch,
                                               std::size_t step);

/// Gives a new attempt what `steps` steps of an earlier one did: links to their files and to the
/// directories of their stages.
void take_over_steps(const home::RunFiles& files, int from, int to, std::size_t steps);

/// Returns the time between SIGTERM and SIGKILL for a stage without a value: 5 s, or in a job what
/// the site's warning leaves for writing a record.
std::chrono::nanoseconds grace_in_job(const std::optional<BatchPart>& batch);

/// Marks a run as failed that a signal interrupted when its job's time was nearly over: it would
/// get no further another time. Not where a person cancelled the run.
void mark_out_of_time(const BatchPart& batch,
                      const std::string& run_id,
                      base::WallTime now,
                      spec::RunRecord& record);

/// Puts what earlier steps found before what `record` says of this one.
void put_before(const spec::RunRecord& earlier, spec::RunRecord& record, FoundSoftware& software);
/// Notes outputs of earlier steps that were not written to since, by the times of their files. The
/// records of the others say that they were only hashed.
void note_unchanged(spec::RunRecord& earlier,
                    const home::RunFiles& files,
                    const std::filesystem::path& step,
                    OutputStamps& stamps);
/// Returns the outputs of stages that ended well.
MadeOutputs made_by(const spec::RunRecord& earlier);

/// Adds a record for each stage without one, in the plan's order: stages of steps that do not begin
/// any more were skipped.
void complete_stages(const spec::RunPlan& plan, spec::RunRecord& record);

}  // namespace sabath::execution
