#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/spec/scheduler.hpp>
#include <sabath/spec/site.hpp>
#include <sabath/spec/tool.hpp>

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

/// Expands a site's `scratch` or `staging.folder`, which may begin with a variable of the node:
/// "$TMPDIR/x", "${TMPDIR}/x". Returns nothing if the variable is not set or the result is not an
/// absolute path.
std::optional<std::filesystem::path> folder_on_node(const std::string& path,
                                                    const base::Environment& environment);

struct SchedulerDocument {
  spec::SchedulerDescription scheduler{};
  std::filesystem::path path{};
};

/// Finder of sites (sites/ in the configuration folder) and schedulers (schedulers/ there, before
/// the shipped ones). Their contents are executed: others must not be able to write the user's own.
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
  /// Fetchers of tools/ in both folders, sorted by name. Throws as `scheduler` does.
  std::vector<spec::ToolDescription> tools() const;

 private:
  std::filesystem::path configuration_;
  std::filesystem::path shipped_;
};

}  // namespace sabath::home
