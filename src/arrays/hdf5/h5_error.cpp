#include "h5_error.hpp"

#include <string_view>

namespace sabath::arrays {
namespace {

// The walk goes from the innermost entry outwards; that one says what really happened.
herr_t take_innermost(unsigned n, const H5E_error2_t* entry, void* data) noexcept {
  if (n > 0 || entry->desc == nullptr) return 0;
  try {
    *static_cast<std::string*>(data) = entry->desc;
  } catch (...) {
    return -1;  // no memory for a message: the caller says "HDF5 gives no reason"
  }
  return 0;
}

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// "file write failed: time = ..., error message = 'No space left on device', buf = 0x..." is a
/// page of HDF5's own affairs around the one thing that helps.
std::string without_affairs(const std::string& text) {
  constexpr std::string_view label = "error message = '";
  const auto from = text.find(label);
  if (from == std::string::npos) return text;
  const auto to = text.find('\'', from + label.size());
  return text.substr(from + label.size(), to - from - label.size());
}

std::string newer_text(const std::string& cause) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return "is of a newer version of the format than HDF5 " + std::to_string(major) + "." +
         std::to_string(minor) + "." + std::to_string(release) +
         ", the library of this sabath, knows (" + cause + ")";
}

}  // namespace

QuietErrors::QuietErrors() noexcept : turn_(library_mutex()) {
  // Everything is closed explicitly. The clean-up that HDF5 would do at exit crashes over a file
  // that could not be written to its end (1.10.8), and with it the command's exit status.
  static const herr_t no_exit_handler = H5dont_atexit();
  static_cast<void>(no_exit_handler);
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() {
  H5Eset_auto2(H5E_DEFAULT, print_, data_);
}

void throw_hdf5(const std::string& place, const std::string& problem, base::ErrorKind kind) {
  std::string cause;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &cause);
  H5Eclear2(H5E_DEFAULT);
  if (cause.empty()) cause = "HDF5 gives no reason";
  const std::string before = place + ": " + problem;
  // The codes of the entry say no more than that something could not be loaded.
  const bool is_newer =
      cause.starts_with("bad ") && cause.find("version number") != std::string::npos;
  if (is_newer) {
    const std::string state = newer_text(cause);
    throw Hdf5Failure(kind, before + ": it " + state, state);
  }
  const std::string text = without_affairs(cause);
  throw Hdf5Failure(kind, before + ": " + text, "cannot be read (" + text + ")");
}

H5Id checked(hid_t id,
             H5Id::Close close,
             const std::string& place,
             const std::string& problem,
             base::ErrorKind kind) {
  if (id < 0) throw_hdf5(place, problem, kind);
  return {id, close};
}

}  // namespace sabath::arrays
