#pragma once

#include <sabath/launch/scheduler.hpp>
#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/site.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace sabath::launch {

using Values = std::map<std::string, std::string>;

/// What the placeholders of a description stand for in one submission; those that have no value are
/// not there. Throws Error{usage} for what the scheduler cannot be told.
Values values_of(const spec::SchedulerDescription& scheduler,
                 const spec::Site& site,
                 const BatchJob& job);

/// Where the file lies that is submitted in the script's stead.
std::filesystem::path submit_file_of(const BatchJob& job);

/// The text of the job script.
std::string job_script(const spec::SchedulerDescription& scheduler,
                       const spec::Site& site,
                       const BatchJob& job,
                       const Values& values);

/// The text of that file.
std::string submit_file(const spec::SchedulerDescription& scheduler,
                        const spec::Site& site,
                        const Values& values);

}  // namespace sabath::launch
