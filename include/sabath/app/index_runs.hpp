#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/home/documents.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

namespace sabath::app {

/// Called with the directory of each run whose news were indexed. Not for runs that were known.
using OnNews = std::function<void(const std::filesystem::path& run_directory)>;

/// Updates the catalog: indexes what the inbox names, and closes as `lost` the runs whose `exec` is
/// provably gone. Quick when there is nothing to do. Warns of a run that cannot be read, and leaves
/// it in the inbox.
void index_inbox(catalog::Catalog& catalog,
                 const std::filesystem::path& runs,
                 base::Clock& clock,
                 base::Observer& observer,
                 const OnNews& on_news = {});

/// Keeps a catalog up to date and does nothing else: leaves the notes of the inbox to the next
/// command, which fires hooks, and closes no run.
class InboxReader {
 public:
  explicit InboxReader(std::filesystem::path runs) : runs_(std::move(runs)) {}

  /// Puts the runs of those notes that came since. Warns as index_inbox.
  void read(catalog::Catalog& catalog, base::Clock& clock, base::Observer& observer);

 private:
  std::filesystem::path runs_;
  std::map<std::string, std::uint64_t> known_{};  ///< notes by name, with their inodes
};

struct ReindexReport {
  std::uint64_t indexed = 0;
  std::uint64_t unreadable = 0;
};

/// Rebuilds the index from the run directories alone, in one transaction.
ReindexReport reindex(catalog::Catalog& catalog,
                      const std::filesystem::path& runs,
                      base::Clock& clock,
                      base::Observer& observer,
                      std::stop_token stop);

using UpdateCatalog = std::function<void(catalog::Catalog&)>;

/// Returns the catalog with all runs, brought up to date by `update`; none: by index_inbox. Makes
/// it again from the run directories where it was removed or SQLite finds it damaged.
std::unique_ptr<catalog::Catalog> open_catalog(const std::filesystem::path& file,
                                               const std::filesystem::path& runs,
                                               base::Clock& clock,
                                               base::Observer& observer,
                                               std::stop_token stop = {},
                                               const UpdateCatalog& update = {});

/// Puts all documents into the catalog, so that `search` finds them. Warns of unreadable ones.
void index_documents(catalog::Catalog& catalog,
                     const home::Documents& documents,
                     base::Observer& observer);

}  // namespace sabath::app
