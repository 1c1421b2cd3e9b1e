#pragma once

#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/site.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace sabath::launch {

/// The placeholders of which the options of a submission with these values tell the scheduler.
std::set<std::string> told_options(const spec::SchedulerDescription& scheduler,
                                   const std::map<std::string, std::string>& values);

/// Of the cores that a job wants in all, those that the scheduler is asked for by `told`, or
/// that the site says it has anyway.
std::int64_t asked_slots(const spec::Site& site,
                         const spec::Resources& resources,
                         const std::set<std::string>& told);

/// Throws Error{usage} where a resource is wanted that neither `told` nor the site speaks of.
void check_told(const spec::SchedulerDescription& scheduler,
                const spec::Site& site,
                const spec::Resources& resources,
                const std::set<std::string>& told);

}  // namespace sabath::launch
