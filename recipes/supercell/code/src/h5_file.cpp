#include "h5_file.h"

#include "error.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace supercell {
namespace {

// Owns one HDF5 identifier.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);

  Handle(hid_t id, Closer close) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  hid_t id() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  Closer close_;
};

// HDF5 prints its error stack unless told not to; failures become Errors here.
void silence() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void write_attribute(
    hid_t file, const std::string& object, const std::string& name, hid_t type, const void* value) {
  const Handle target(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(
      H5Acreate2(target.id(), name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.ok() || H5Awrite(attribute.id(), type, value) < 0) {
    throw Error(object + ": attribute '" + name + "' cannot be written");
  }
}

}  // namespace

H5Writer::H5Writer(const std::string& path) : path_(path), temporary_(path + ".part") {
  silence();
  if (std::filesystem::is_directory(path)) throw Error(path + ": is a folder, not a file");
  file_ = H5Fcreate(temporary_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file_ < 0) {
    throw Error(path + ": cannot be written", "does its folder exist, and may you write there?");
  }
}

H5Writer::~H5Writer() {
  if (file_ < 0) return;
  H5Fclose(file_);
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void H5Writer::write(const std::string& name,
                     const Dimensions& dimensions,
                     std::span<const double> values,
                     const H5Description& description) {
  const std::vector<hsize_t> sizes(dimensions.begin(), dimensions.end());
  std::size_t total = 1;
  for (const std::uint64_t size : dimensions)
    total *= size;
  if (total != values.size()) throw Error(path_ + ": " + name + ": shape and size differ");

  const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                     H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), false);
  {
    const Handle data(H5Dcreate2(file_,
                                 name.c_str(),
                                 H5T_IEEE_F64LE,
                                 space.id(),
                                 H5P_DEFAULT,
                                 creation.id(),
                                 H5P_DEFAULT),
                      H5Dclose);
    if (!data.ok() ||
        H5Dwrite(data.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
      throw Error(path_ + ": " + name + ": cannot be written", "is there space left?");
    }
  }
  attribute(name, "long_name", description.long_name);
  attribute(name, "units", description.units);
  attribute(name, "dimensions", description.dimensions);
  if (!description.coordinates.empty()) attribute(name, "coordinates", description.coordinates);
}

void H5Writer::attribute(const std::string& object,
                         const std::string& name,
                         std::string_view text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), std::max<std::size_t>(text.size(), 1));
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  const std::string padded = text.empty() ? std::string(1, '\0') : std::string(text);
  write_attribute(file_, object, name, type.id(), padded.data());
}

void H5Writer::attribute(const std::string& object, const std::string& name, double value) {
  write_attribute(file_, object, name, H5T_NATIVE_DOUBLE, &value);
}

void H5Writer::attribute(const std::string& object, const std::string& name, std::int64_t value) {
  write_attribute(file_, object, name, H5T_NATIVE_INT64, &value);
}

void H5Writer::commit() {
  const bool flushed = H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0;
  const bool closed = H5Fclose(std::exchange(file_, -1)) >= 0;
  if (!flushed || !closed) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    throw Error(path_ + ": cannot be written", "is there space left?");
  }
  std::filesystem::rename(temporary_, path_);
}

H5Reader::H5Reader(std::string path) : path_(std::move(path)) {
  silence();
  if (!std::filesystem::exists(path_)) throw Error(path_ + ": no such file");
  file_ = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file_ < 0) throw Error(path_ + ": cannot be read as HDF5");
}

H5Reader::~H5Reader() {
  H5Fclose(file_);
}

void H5Reader::refuse(const std::string& what) const {
  throw Error(path_ + ": " + what, "was it written by another program, or an older version?");
}

H5Array H5Reader::read(const std::string& name, std::size_t rank) const {
  const Handle data(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!data.ok()) refuse("has no data set '" + name + "'");
  const Handle space(H5Dget_space(data.id()), H5Sclose);
  const int found = H5Sget_simple_extent_ndims(space.id());
  if (found != static_cast<int>(rank)) {
    refuse("data set '" + name + "' has " + std::to_string(found) + " dimensions instead of " +
           std::to_string(rank));
  }
  std::vector<hsize_t> sizes(rank);
  H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
  H5Array array;
  array.dimensions.assign(sizes.begin(), sizes.end());
  array.values.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.id())));
  const herr_t status =
      H5Dread(data.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data());
  if (status < 0) refuse("data set '" + name + "' cannot be read as numbers");
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(array.values.begin(), array.values.end(), finite)) {
    refuse("data set '" + name + "' holds values that are not finite");
  }
  return array;
}

double H5Reader::real(const std::string& name) const {
  double value = 0;
  const Handle attribute(H5Aopen(file_, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute.ok()) refuse("has no attribute '" + name + "'");
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  const bool single = H5Sget_simple_extent_npoints(space.id()) == 1;
  if (!single || H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &value) < 0 || !std::isfinite(value)) {
    refuse("attribute '" + name + "' is not a finite number");
  }
  return value;
}

std::int64_t H5Reader::integer(const std::string& name,
                               std::int64_t least,
                               std::int64_t most) const {
  const double value = real(name);
  if (value != std::floor(value) || value < static_cast<double>(least) ||
      value > static_cast<double>(most)) {
    refuse("attribute '" + name + "' is not a whole number from " + std::to_string(least) + " to " +
           std::to_string(most));
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace supercell
