#pragma once

#include "h5_id.hpp"

#include <sabath/base/error.hpp>

#include <mutex>
#include <string>

namespace sabath::arrays {

/// While it lives, HDF5 does not print its errors on this thread. Every way into this module makes
/// one before anything else, so that the first also takes away HDF5's exit handler in time; and no
/// two threads are in the library at once, which not every build of it allows.
class QuietErrors {
 public:
  QuietErrors() noexcept;
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  std::unique_lock<std::recursive_mutex> turn_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// What a library that is newer than this one wrote, in a version of the format that this one does
/// not know: no damage.
class NewerVersion : public base::Error {
 public:
  NewerVersion(base::ErrorKind kind, const std::string& before, const std::string& cause);
  /// "is of a newer version ..."
  const std::string& what_it_is() const noexcept { return what_it_is_; }

 private:
  std::string what_it_is_;
};

/// Throws "place: problem: cause" with the cause from the innermost entry of HDF5's error stack; a
/// NewerVersion where that is one.
[[noreturn]] void throw_hdf5(const std::string& place,
                             const std::string& problem,
                             base::ErrorKind kind = base::ErrorKind::integrity);

/// Owns `id`, or throws as above when it is negative.
H5Id checked(hid_t id,
             H5Id::Close close,
             const std::string& place,
             const std::string& problem,
             base::ErrorKind kind = base::ErrorKind::integrity);

}  // namespace sabath::arrays
