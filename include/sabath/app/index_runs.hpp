#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/home/documents.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>

namespace sabath::app {

/// Brings the catalog up to date: indexes what the inbox names and closes as `lost` the runs whose
/// `exec` is provably gone. Quick when there is nothing to do. A run that cannot be read is told to
/// `observer` and left in the inbox.
void index_inbox(catalog::Catalog& catalog,
                 const std::filesystem::path& runs,
                 base::Clock& clock,
                 base::Observer& observer);

struct ReindexReport {
  std::uint64_t indexed = 0;
  std::uint64_t unreadable = 0;
};

/// Rebuilds the index from nothing but the run directories, in one transaction.
ReindexReport reindex(catalog::Catalog& catalog,
                      const std::filesystem::path& runs,
                      base::Clock& clock,
                      base::Observer& observer,
                      std::stop_token stop);

/// The catalog with all runs, up to date. One that was removed, or that SQLite finds damaged, is
/// made again from the run directories.
std::unique_ptr<catalog::Catalog> open_catalog(const std::filesystem::path& file,
                                               const std::filesystem::path& runs,
                                               base::Clock& clock,
                                               base::Observer& observer,
                                               std::stop_token stop = {});

/// Tells the catalog of all documents, so that `search` finds them. Unreadable ones are told to
/// `observer`.
void index_documents(catalog::Catalog& catalog,
                     const home::Documents& documents,
                     base::Observer& observer);

}  // namespace sabath::app
