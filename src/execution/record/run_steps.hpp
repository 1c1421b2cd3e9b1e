#pragma once

#include "keep_outputs.hpp"
#include "run_software.hpp"
#include "stage_runner.hpp"

#include <sabath/execution/execute_plan.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/batch.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::execution {

// A run whose stages need different machines is executed by several jobs. What one step found is
// kept in attempts/<n>/step-<k>.json, a record of all steps so far, and the next goes on from it.

std::filesystem::path step_file(const home::RunFiles& files, int attempt, std::size_t step);

/// Those of the plan that the step names, in the plan's order. Throws Error{usage} for a step that
/// the batch has not, or a stage that the plan has not.
std::vector<spec::PlannedStage> stages_of_step(const spec::RunPlan& plan,
                                               const spec::BatchPlan& batch,
                                               std::size_t step);

/// Another attempt goes on with what `steps` steps of an earlier one did: their files, and the
/// folders of their stages, are in the new attempt's folder as links.
void take_over_steps(const home::RunFiles& files, int from, int to, std::size_t steps);

/// What a stage that says nothing of it has between SIGTERM and SIGKILL: 5 s, or in a job what the
/// site's warning leaves when a record is to be written before the time is over.
std::chrono::nanoseconds grace_in_job(const std::optional<BatchPart>& batch);

/// A run that a signal has interrupted when the time of its step's job was nearly over has failed:
/// it would get no further another time. Not one that a person has cancelled.
void tell_out_of_time(const BatchPart& batch,
                      const std::string& run_id,
                      base::WallTime now,
                      spec::RunRecord& record);

/// Puts what earlier steps found before what `record` says of this one.
void put_before(const spec::RunRecord& earlier, spec::RunRecord& record, FoundSoftware& software);
/// Outputs of earlier steps that nobody has written to since, by the times of their files; the
/// others are only hashed, and say so.
void note_unchanged(spec::RunRecord& earlier,
                    const home::RunFiles& files,
                    const std::filesystem::path& step,
                    OutputStamps& stamps);
/// The outputs of stages that have ended well.
MadeOutputs made_by(const spec::RunRecord& earlier);

/// All stages of the plan have a record after this, in the plan's order: those of steps that are
/// not begun any more were skipped.
void complete_stages(const spec::RunPlan& plan, spec::RunRecord& record);

}  // namespace sabath::execution
