#pragma once

#include "h5_entry.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sabath::arrays {

constexpr const char* inside_only = ", and only what is in the file itself is compared";

/// Finds out where the values of a file's data sets are stored, and whether they can be read.
class H5Storage {
 public:
  /// `place` begins messages.
  explicit H5Storage(std::string place) : place_(std::move(place)) {}

  /// Notes a data set that was met, with its creation properties `plan`. Fills in
  /// `entry.unreadable` and `entry.outside`. Returns false where values are outside the file.
  bool note(hid_t dataset, hid_t plan, Entry& entry);

  /// Makes a view unreadable unless its sources are plain data sets that were noted. Links and
  /// data sets stored elsewhere could lead a view of this file out of it.
  void require_plain_sources(Entry& entry) const;

 private:
  /// Fills in `entry.outside`. Returns the pattern of source names, if one has any: "%b" stands
  /// for a number, and the library finds these data sets only when it reads.
  std::string note_outside(hid_t plan, Entry& entry);
  const std::string& note_virtual_source(hid_t plan, std::size_t index, const std::string& path);

  std::string place_;
  std::map<std::string, std::string> datasets_{};  ///< with the reason why they are unreadable
  std::map<std::string, std::vector<std::string>> virtual_sources_{};
};

}  // namespace sabath::arrays
