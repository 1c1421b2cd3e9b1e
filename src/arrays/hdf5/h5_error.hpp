#pragma once

#include "h5_id.hpp"

#include <sabath/base/error.hpp>

#include <mutex>
#include <string>
#include <utility>

namespace sabath::arrays {

/// Stops HDF5 from printing errors on this thread. Every entry to this module makes one first, so
/// that the first also removes the exit handler of HDF5 in time. It also keeps other threads out of
/// the library, which not every build allows.
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

/// A failed call of HDF5: damage, or a newer version of the format.
class Hdf5Failure : public base::Error {
 public:
  /// `state`: "cannot be read (CAUSE)" or "is of a newer version ...".
  Hdf5Failure(base::ErrorKind kind, const std::string& message, std::string state)
      : Error(kind, message), state_(std::move(state)) {}
  /// State of the object, for ArrayInfo::unreadable.
  const std::string& state() const noexcept { return state_; }

 private:
  std::string state_;
};

/// Throws Hdf5Failure "place: problem: cause" with the cause from the innermost entry of HDF5's
/// error stack.
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
