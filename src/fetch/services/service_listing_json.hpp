#pragma once

#include <sabath/fetch/fetcher.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

// Answers of services. Services may add members: only members in use are read. All functions throw
// Error{transfer}, which begins with `origin`, where these are not as documented.

/// Returns the commit of a revision, from /api/{models,datasets}/ID/revision/REV.
std::string hub_commit(std::string_view text, const std::string& origin);
/// Returns the files of one page of /api/{models,datasets}/ID/tree/REV. `url` comes before their
/// paths. Large files have a SHA-256 (`lfs.oid`), the others only git's own digest.
std::vector<ListedFile> hub_files(std::string_view text,
                                  const std::string& origin,
                                  const std::string& url);

/// Returns the files of a record of Zenodo, or of another InvenioRDM.
std::vector<ListedFile> zenodo_files(std::string_view text, const std::string& origin);
/// Returns the files of the latest version of a Dataverse data set at the URL `host`.
std::vector<ListedFile> dataverse_files(std::string_view text,
                                        const std::string& origin,
                                        const std::string& host);

}  // namespace sabath::fetch
