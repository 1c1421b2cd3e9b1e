#pragma once

#include "h5_id.hpp"

#include <sabath/base/array_source.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace sabath::arrays {

/// Limit of an element and of a packed chunk in bytes: these are in memory as a whole.
constexpr std::size_t most_at_once = std::size_t{1} << 30U;

/// One array of an HDF5 file and where it is stored.
struct Entry {
  base::ArrayInfo info{};
  std::string object{};         ///< absolute path of the object
  haddr_t group = HADDR_UNDEF;  ///< for opening: paths are slow
  std::string name{};           ///< of the object in the group
  std::string attribute{};
  std::size_t leaf = 0;                ///< index in leaves_of(type)
  std::string link{};                  ///< text of a link or a digest
  std::vector<std::string> outside{};  ///< files with its values
};

/// Lists every array and attribute of a file, sorted by path. A member of a compound is an array of
/// its own ("particles/mass" of the table "particles"). A data set with two names is listed under
/// both. A soft link, or a second name of a group, is a text with its target: nothing is followed
/// twice, and cycles are harmless. Empty groups and the provenance that NetCDF-4 writes are not
/// listed. What is stored outside the file, or packed with a missing filter, is unreadable.
std::vector<Entry> walk(hid_t file, const std::string& place);

}  // namespace sabath::arrays
