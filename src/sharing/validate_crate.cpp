#include "validate_crate.hpp"

#include "local_files.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/archive/zip_reader.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/run_crate.hpp>
#include <sabath/sharing/group_crate.hpp>

#include <algorithm>
#include <map>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::printable;

using FoundMembers = std::map<std::string, base::ArchiveEntry>;

[[noreturn]] void invalid(const fs::path& place, const std::string& problem) {
  throw Error(ErrorKind::usage, printable(place.string()) + ": " + problem);
}

FoundMembers members_of(const fs::path& place,
                        base::Observer& observer,
                        const std::stop_token& stop) {
  FoundMembers members;
  std::error_code code;
  if (!fs::is_directory(place, code)) {
    for (base::ArchiveEntry& entry : base::read_archive(place, observer, stop))
      members.emplace(entry.path, entry);
    return members;
  }
  for (const std::string& path : files_matching(place, "*")) {
    base::ArchiveEntry entry;
    entry.path = path;
    entry.size_bytes = fs::file_size(place / path);
    entry.digest = base::digest_file(place / path);
    members.emplace(path, std::move(entry));
  }
  return members;
}

/// Names that no crate may have, whatever bytes stand behind them.
void refuse_names(const fs::path& place, const FoundMembers& members) {
  std::map<std::string, std::string> seen;
  for (const auto& [name, member] : members) {
    if (!member.link_target.empty())
      invalid(place, "the member '" + printable(name) + "' is a link");
    const auto [other, is_new] = seen.emplace(base::lower_case(name), name);
    if (!is_new)
      invalid(place,
              "the members '" + printable(name) + "' and '" + printable(other->second) +
                  "' differ in case only");
  }
}

std::string metadata_of(const fs::path& place) {
  std::error_code code;
  if (fs::is_directory(place, code)) return base::read_file(place / exchange::crate_metadata);
  base::ZipReader zip(place);
  while (const auto member = zip.next()) {
    if (member->path != exchange::crate_metadata) continue;
    std::string text;
    for (auto bytes = zip.read(); !bytes.empty(); bytes = zip.read())
      text += base::as_text(bytes);
    return text;
  }
  invalid(place, "has no " + std::string(exchange::crate_metadata));
}

void check_stated(const fs::path& place, const FoundMembers& members) {
  for (const exchange::StatedMember& stated : exchange::stated_members(metadata_of(place))) {
    const std::string name = "the member '" + printable(stated.path) + "'";
    const auto member = members.find(stated.path);
    if (member == members.end()) invalid(place, name + " of the metadata is missing");
    if (stated.has_digest && !stated.digest)
      invalid(place, name + " has a sha256 in the metadata that is not one");
    if (stated.digest && *stated.digest != member->second.digest)
      throw Error(
          ErrorKind::integrity,
          printable(place.string()) + ": " + name + " has other bytes than the metadata say");
    if (stated.size_bytes && *stated.size_bytes != member->second.size_bytes)
      invalid(place,
              name + " has " + std::to_string(member->second.size_bytes) +
                  " bytes, and the metadata say " + std::to_string(*stated.size_bytes));
  }
}

}  // namespace

std::vector<std::string> validate_crate(const fs::path& place,
                                        base::Observer& observer,
                                        const std::stop_token& stop) {
  const FoundMembers members = members_of(place, observer, stop);
  refuse_names(place, members);
  // It is taken into a home that is thrown away.
  const base::TempDir folder(fs::temp_directory_path());
  home::Folders folders;
  folders.home = folder.path() / "home";
  base::SystemClock clock;
  const auto unlisted = is_group_crate(place)
                            ? import_group(place, folders, clock, observer, stop).unlisted
                            : import_crate(place, folders, clock, observer, stop).unlisted;
  check_stated(place, members);
  std::vector<std::string> notes;
  for (const std::string& member : unlisted)
    notes.push_back("the manifest does not name '" + printable(member) + "'");
  return notes;
}

}  // namespace sabath::sharing
