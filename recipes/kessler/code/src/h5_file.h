#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kessler {

// One dimension of a data set. Data sets that share a name share the dimension scale.
struct Dimension {
  std::string name;
  std::size_t size;
};

// An HDF5 file that is written. It has a temporary name until commit(): a file with the final name
// is complete. It holds no times.
class H5Writer {
 public:
  // Throws Error if the file cannot be created.
  explicit H5Writer(const std::string& path);
  ~H5Writer();
  H5Writer(const H5Writer&) = delete;
  H5Writer& operator=(const H5Writer&) = delete;

  // A data set with named dimensions, as NetCDF-4 stores them. No dimension: a scalar.
  void write(const std::string& name,
             const std::vector<Dimension>& dimensions,
             std::span<const float> values,
             const std::string& units);
  void write(const std::string& name,
             const std::vector<Dimension>& dimensions,
             std::span<const double> values,
             const std::string& units);
  void write(const std::string& name, std::int32_t value);
  // An attribute of `object`; "/" is the file.
  void attribute(const std::string& object, const std::string& name, std::string_view text);
  void commit();

 private:
  void write(const std::string& name,
             const std::vector<Dimension>& dimensions,
             std::int64_t type,
             const void* values,
             std::size_t count,
             const std::string& units);
  void attach(std::int64_t data, unsigned index, const Dimension& dimension);

  std::string path_;
  std::string temporary_;
  std::int64_t file_ = -1;
};

// An HDF5 or NetCDF-4 file that is read. Each problem is an Error that names file and array, and
// what was expected.
class H5Reader {
 public:
  explicit H5Reader(std::string path);
  ~H5Reader();
  H5Reader(const H5Reader&) = delete;
  H5Reader& operator=(const H5Reader&) = delete;

  const std::string& path() const { return path_; }
  // Sizes of a data set of 32-bit floating point numbers.
  std::vector<std::size_t> sizes(const std::string& name) const;
  std::vector<float> floats(const std::string& name) const;
  // A data set of floating point numbers with exactly `count` elements, all finite.
  std::vector<double> doubles(const std::string& name, std::size_t count) const;
  // Number of elements of a data set of any type.
  std::size_t count(const std::string& name) const;
  // The attribute `units` of a data set; empty if it has none.
  std::string units(const std::string& name) const;

  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const;

 private:
  std::string path_;
  std::int64_t file_ = -1;
};

}  // namespace kessler
