#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <string_view>

namespace sabath::home {

/// Does a variable of this name choose among ways to compute, say how many threads do, or give a
/// library its seed?
bool is_of_determinism(std::string_view variable);

/// Does a variable of this name choose among ways to compute (NCCL_ALGO, OMP_SCHEDULE)?
bool is_switch(std::string_view variable);

/// Does a variable of this name say how many threads a library uses?
bool is_thread_count(std::string_view variable);

/// Does a variable of this name give a library its seed?
bool is_seed(std::string_view variable);

/// Does a variable of this name lead programs to other code (PYTHONPATH, LD_PRELOAD), or say in
/// which language and time zone they read and write?
bool is_of_surroundings(std::string_view variable);

/// Is it one of these that the same command elsewhere has to set? Everybody's session sets its
/// language: told each time, it would be read no more. `repro` sets it as the record has it.
bool is_knob(std::string_view variable);

/// Does a run have this variable of the session that it is started in, whatever the run had that it
/// repeats? sabath itself may want it to start.
bool stays_of_session(std::string_view variable);

/// The variables that lead programs to other code, in `environment` (that of `exec`) that reach a
/// stage: neither what layers and recipes set, nor into containers. Secrets are redacted.
spec::Facet variables_facet(const spec::RunPlan& plan, const base::Environment& environment);

}  // namespace sabath::home
