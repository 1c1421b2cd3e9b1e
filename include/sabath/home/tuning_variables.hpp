#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/run_plan.hpp>

#include <string_view>

namespace sabath::home {

/// Whether a variable selects an algorithm, sets a number of threads, or gives a library its seed.
bool is_of_determinism(std::string_view variable);

/// Whether a variable selects an algorithm (NCCL_ALGO, OMP_SCHEDULE).
bool is_switch(std::string_view variable);

/// Whether a variable sets the number of threads of a library.
bool is_thread_count(std::string_view variable);

/// Whether a variable gives a library its seed.
bool is_seed(std::string_view variable);

/// Whether a variable leads programs to other code (PYTHONPATH, LD_PRELOAD), or sets their language
/// or time zone.
bool is_of_surroundings(std::string_view variable);

/// Whether it is one of these and must be set to repeat a command elsewhere. Leaves out the
/// language, which every session sets; `repro` sets it as recorded.
bool is_tuning_variable(std::string_view variable);

/// Whether a repeated run takes this variable from its own session and not from the repeated run:
/// sabath itself may need it to start.
bool stays_of_session(std::string_view variable);

/// The variables of `environment` (that of `exec`) that lead programs to other code and reach a
/// stage. Leaves out what layers and recipes set, and containers. Redacts secrets.
spec::Facet variables_facet(const spec::RunPlan& plan, const base::Environment& environment);

}  // namespace sabath::home
