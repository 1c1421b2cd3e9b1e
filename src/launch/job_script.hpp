#pragma once

#include <sabath/launch/batch_job.hpp>
#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/site.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace sabath::launch {

using Values = std::map<std::string, std::string>;

/// Returns the values of a description's placeholders for one submission, without those that have
/// no value. Throws Error{usage} for values that the scheduler cannot express.
Values values_of(const spec::SchedulerDescription& scheduler,
                 const spec::Site& site,
                 const BatchJob& job);

/// Returns the path of the file that is submitted instead of the script.
std::filesystem::path submit_file_of(const BatchJob& job);

std::string job_script(const spec::SchedulerDescription& scheduler,
                       const spec::Site& site,
                       const BatchJob& job,
                       const Values& values);

/// Returns the text of that file.
std::string submit_file(const spec::SchedulerDescription& scheduler,
                        const spec::Site& site,
                        const Values& values);

}  // namespace sabath::launch
