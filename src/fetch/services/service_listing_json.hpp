#pragma once

#include <sabath/fetch/fetcher.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

// What services answer, which is theirs to extend: only the members that are used are looked at.
// All throw Error{transfer} that begins with `origin` where these are not as documented.

/// The commit that a revision is, of /api/{models,datasets}/ID/revision/REV.
std::string hub_commit(std::string_view text, const std::string& origin);
/// The files of one page of /api/{models,datasets}/ID/tree/REV; `url` is what their paths are put
/// behind. Large files have their SHA-256 (`lfs.oid`), the others only git's own.
std::vector<ListedFile> hub_files(std::string_view text,
                                  const std::string& origin,
                                  const std::string& url);

/// The files of a record of Zenodo, or of another InvenioRDM.
std::vector<ListedFile> zenodo_files(std::string_view text, const std::string& origin);
/// The files of the latest version of a Dataverse data set; `host` is the URL of the installation.
std::vector<ListedFile> dataverse_files(std::string_view text,
                                        const std::string& origin,
                                        const std::string& host);

}  // namespace sabath::fetch
