#pragma once

#include <sabath/base/unique_fd.hpp>

#include <filesystem>
#include <string>

namespace sabath::execution {

/// Holds room for what is written at the end of a run, so that a disk that fills up meanwhile does
/// not take its record: a file without a name, which is gone with this object or its process. Where
/// the file system has no such files nothing is held.
class SpaceReserve {
 public:
  explicit SpaceReserve(std::filesystem::path folder);
  /// "FOLDER: No space left on device" where there is none beside what is held, else nothing.
  std::string problem() const;

 private:
  std::filesystem::path folder_;
  base::UniqueFd file_;
};

}  // namespace sabath::execution
