#pragma once

#include <sabath/base/error.hpp>

#include <string>

namespace sabath::base {

/// Error of a reader process that ended before it answered: it crashed, or exceeded a limit of time
/// or memory. Its kind is `integrity`. Other arrays of the file may be readable.
class ReaderEnded : public Error {
 public:
  /// `array` is empty for the whole file; `how` is "the reader process was killed by ...".
  ReaderEnded(const std::string& file, const std::string& array, const std::string& how)
      : Error(ErrorKind::integrity,
              file + (array.empty() ? "" : ":/" + array) + ": cannot be read: " + how),
        file_(file),
        why_("cannot be read: " + how) {}

  const std::string& file() const noexcept { return file_; }
  /// The problem, to be put behind a name.
  const std::string& why() const noexcept { return why_; }

 private:
  std::string file_;
  std::string why_;
};

}  // namespace sabath::base
