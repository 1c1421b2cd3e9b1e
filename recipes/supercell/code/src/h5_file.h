#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace supercell {

using Dimensions = std::vector<std::uint64_t>;

// An array as it lies in a file, the last dimension fastest.
struct H5Array {
  Dimensions dimensions;
  std::vector<double> values;
};

// What describes a data set to a reader who has only the file (CF conventions).
struct H5Description {
  std::string long_name;
  std::string units;
  std::string dimensions;   // "time z x"
  std::string coordinates;  // empty when the data set is a coordinate itself
};

// An HDF5 file being written. It lies under a temporary name until commit(), so that the name of a
// finished file is never that of half a file. Nothing in it tells when it was made.
class H5Writer {
 public:
  // Throws Error when the file cannot be made there.
  explicit H5Writer(const std::string& path);
  ~H5Writer();
  H5Writer(const H5Writer&) = delete;
  H5Writer& operator=(const H5Writer&) = delete;

  void write(const std::string& name,
             const Dimensions& dimensions,
             std::span<const double> values,
             const H5Description& description);
  // Attributes of `object`, "/" for the file.
  void attribute(const std::string& object, const std::string& name, std::string_view text);
  void attribute(const std::string& object, const std::string& name, double value);
  void attribute(const std::string& object, const std::string& name, std::int64_t value);
  void commit();

 private:
  std::string path_;
  std::string temporary_;
  std::int64_t file_ = -1;
};

// An HDF5 file being read. What is missing or has another shape is an Error that names it.
class H5Reader {
 public:
  explicit H5Reader(std::string path);
  ~H5Reader();
  H5Reader(const H5Reader&) = delete;
  H5Reader& operator=(const H5Reader&) = delete;

  const std::string& path() const { return path_; }
  // All values must be finite.
  H5Array read(const std::string& name, std::size_t rank) const;
  double real(const std::string& name) const;
  // A root attribute that is a whole number in [least, most].
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const;

 private:
  [[noreturn]] void refuse(const std::string& what) const;

  std::string path_;
  std::int64_t file_ = -1;
};

}  // namespace supercell
