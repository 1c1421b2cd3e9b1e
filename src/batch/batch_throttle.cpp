#include "batch_throttle.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>

namespace sabath::batch {
namespace {

[[noreturn]] void refuse(const spec::SchedulerDescription& scheduler,
                         const spec::Site& site,
                         const std::string& why,
                         const std::string& hint) {
  throw base::Error(base::ErrorKind::usage,
                    "site '" + site.name + "': " + scheduler.name + " cannot be held to " +
                        std::to_string(site.at_once) + " at once: " + why,
                    hint);
}

}  // namespace

BatchThrottle::BatchThrottle(const spec::SchedulerDescription& scheduler,
                             const spec::Site& site,
                             std::size_t tasks,
                             std::size_t largest) {
  if (site.at_once <= 0) return;
  const auto most = static_cast<std::size_t>(site.at_once);
  const std::size_t each = std::min(largest, tasks);
  if (each > most && !scheduler.knows("at_once")) {
    refuse(scheduler,
           site,
           "its description has no line with '{at_once}' for the tasks of an array",
           "without --jobs and the site's \"at_once\" all of them are handed in");
  }
  // A batch with fewer tasks than the limit leaves room for others.
  beside_ = std::max<std::size_t>(most / std::max<std::size_t>(each, 1), 1);
  if (tasks <= beside_ * each || scheduler.knows("after_any")) return;
  refuse(scheduler,
         site,
         std::string(each > 1 ? "they are more than one array takes" : "each is a job of its own") +
             ", and no job can wait for the end of another",
         "without --jobs and the site's \"at_once\" all of them are handed in; or do the study in "
         "parts");
}

std::optional<std::string> BatchThrottle::next(const std::string& name) {
  names_.push_back(name);
  if (beside_ == 0 || names_.size() <= beside_) return std::nullopt;
  return names_[names_.size() - 1 - beside_];
}

}  // namespace sabath::batch
