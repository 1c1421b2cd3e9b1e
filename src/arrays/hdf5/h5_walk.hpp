#pragma once

#include "h5_id.hpp"

#include <sabath/base/array_source.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace sabath::arrays {

/// An element, and a chunk that is packed, are in memory as a whole: no more of them than this.
constexpr std::size_t most_at_once = std::size_t{1} << 30U;

/// One array of a file and where it lies.
struct Entry {
  base::ArrayInfo info{};
  std::string object{};                ///< absolute path of the object in the file
  haddr_t group = HADDR_UNDEF;         ///< what it is opened from: a path is slow where it is long
  std::string name{};                  ///< of the object in there
  std::string attribute{};             ///< name of the attribute, or empty
  std::size_t leaf = 0;                ///< which of leaves_of(its type)
  std::string link{};                  ///< not data but a link: what it says
  std::vector<std::string> outside{};  ///< the other files in which its values are
};

/// Every array and attribute of a file, sorted by path. A member of a compound is an array of its
/// own ("particles/mass" of the table "particles"). A data set under two names is listed under
/// both. A soft link, and a second name of a group, is a text that says where it leads: so nothing
/// is followed twice and no cycle matters. A group without anything in it holds no content and is
/// not listed, nor is what NetCDF-4 notes of the library that wrote it. What lies outside of the
/// file, or is packed with a filter that is not there, is listed as unreadable.
std::vector<Entry> walk(hid_t file, const std::string& place);

}  // namespace sabath::arrays
