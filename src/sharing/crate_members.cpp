#include "crate_members.hpp"

#include "local_files.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/run_crate.hpp>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::printable;
using exchange::crate_manifest;
using exchange::crate_metadata;

/// Names that one file system holds apart and another does not.
void refuse_alike(const fs::path& place, const CrateMembers& members) {
  std::map<std::string, std::string> seen;
  for (const auto& [name, digest] : members) {
    const auto [other, is_new] = seen.emplace(base::lower_case(name), name);
    if (!is_new)
      refuse_crate(place,
                   "the members '" + printable(name) + "' and '" + printable(other->second) +
                       "' differ in case only");
  }
}

CrateMembers unpack_zip(const fs::path& place,
                        const fs::path& to,
                        base::Observer& observer,
                        const std::stop_token& stop) {
  CrateMembers members;
  for (const base::ArchiveEntry& entry : base::extract_archive(place, to, {}, observer, stop)) {
    if (!entry.link_target.empty())
      refuse_crate(place, "the member '" + printable(entry.path) + "' is a link");
    members.emplace(entry.path, entry.digest);
  }
  return members;
}

CrateMembers copy_folder(const fs::path& place, const fs::path& to, const std::stop_token& stop) {
  CrateMembers members;
  for (const std::string& path : files_matching(place, "*")) {
    if (stop.stop_requested())
      throw Error(ErrorKind::interrupted, place.string() + ": interrupted");
    base::make_directories((to / path).parent_path());
    std::error_code code;
    fs::copy_file(place / path, to / path, code);
    if (code)
      throw Error(ErrorKind::storage,
                  (to / path).string() + ": cannot be written: " + code.message());
    members.emplace(path, base::digest_file(to / path));
  }
  return members;
}

}  // namespace

void refuse_crate(const fs::path& place, const std::string& problem) {
  throw Error(ErrorKind::integrity,
              printable(place.string()) + ": " + problem,
              "the crate was damaged or changed; ask for it again");
}

CrateMembers unpack_crate(const fs::path& place,
                          const fs::path& to,
                          base::Observer& observer,
                          const std::stop_token& stop) {
  std::error_code code;
  return fs::is_directory(place, code) ? copy_folder(place, to, stop)
                                       : unpack_zip(place, to, observer, stop);
}

std::vector<std::string> verify_members(const fs::path& place,
                                        const fs::path& folder,
                                        CrateMembers members) {
  refuse_alike(place, members);
  for (const auto& [name, digest] :
       exchange::read_manifest(base::read_file(folder / crate_manifest))) {
    const auto member = members.find(name);
    const std::string shown = "the member '" + printable(name) + "'";
    if (member == members.end()) refuse_crate(place, shown + " is missing");
    if (member->second != digest)
      refuse_crate(place, shown + " has other bytes than the manifest says");
    members.erase(member);
  }
  members.erase(crate_manifest);
  members.erase(crate_metadata);
  std::vector<std::string> unlisted;
  for (const auto& [name, digest] : members) {
    unlisted.push_back(name);
    base::remove_tree(folder / name);
  }
  return unlisted;
}

}  // namespace sabath::sharing
