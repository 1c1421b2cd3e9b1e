#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/site.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::home {

struct SiteDocument {
  spec::Site site{};
  std::filesystem::path path{};
};

/// What a site's `scratch` or `staging.folder` is on a node, which may begin with a variable of
/// that: "$TMPDIR/x", "${TMPDIR}/x". Nothing where the variable is not set, or what comes of it is
/// no absolute path.
std::optional<std::filesystem::path> folder_on_node(const std::string& path,
                                                    const base::Environment& environment);

struct SchedulerDocument {
  spec::SchedulerDescription scheduler{};
  std::filesystem::path path{};
};

/// Finds sites (sites/ in the configuration folder) and schedulers (schedulers/ there, which win,
/// and those that ship). What they say is executed: own ones must not be writable by others.
class Sites {
 public:
  /// `shipped` is the folder that has schedulers/ in it.
  Sites(std::filesystem::path configuration, std::filesystem::path shipped);

  /// Throws Error{not_found} with the nearest name, or where such a file would lie, as hint;
  /// Error{usage} for a document that is wrong or cannot be trusted.
  spec::Site site(std::string_view name) const;
  spec::SchedulerDescription scheduler(std::string_view name) const;

  std::vector<SiteDocument> sites(std::vector<BadDocument>& bad) const;
  std::vector<SchedulerDocument> schedulers(std::vector<BadDocument>& bad) const;

 private:
  std::filesystem::path configuration_;
  std::filesystem::path shipped_;
};

}  // namespace sabath::home
