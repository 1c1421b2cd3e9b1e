#include "h5_file.h"

#include "error.h"

#include <hdf5.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kessler {
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

// HDF5 prints its error stack by default. Here failures become Errors.
void silence() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

bool has_signature(const std::string& path) {
  constexpr char signature[] = "\x89HDF\r\n\x1a\n";
  std::array<char, sizeof signature - 1> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return file && std::memcmp(start.data(), signature, start.size()) == 0;
}

// The innermost description in HDF5's error stack.
std::string last_cause() {
  std::string cause;
  const auto keep = [](unsigned index, const H5E_error2_t* error, void* target) -> herr_t {
    if (index == 0 && error->desc != nullptr) *static_cast<std::string*>(target) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep, &cause);
  return cause.empty() ? "unknown cause" : cause;
}

std::string type_name(hid_t type) {
  const auto bits = std::to_string(8 * H5Tget_size(type));
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return bits + "-bit floating point numbers";
    case H5T_INTEGER:
      return bits + "-bit integers";
    case H5T_STRING:
      return "texts";
    default:
      return "values of another type";
  }
}

}  // namespace

H5Writer::H5Writer(const std::string& path) : path_(path), temporary_(path + ".part") {
  silence();
  if (std::filesystem::is_directory(path)) throw Error(path + ": is a folder, not a file");
  file_ = H5Fcreate(temporary_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file_ < 0) {
    throw Error(path + ": cannot be written", "check that its folder exists and is writable");
  }
}

H5Writer::~H5Writer() {
  if (file_ < 0) return;
  H5Fclose(file_);
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void H5Writer::attach(std::int64_t data, unsigned index, const Dimension& dimension) {
  // NetCDF names a dimension without values of its own in this way.
  const std::string title = "This is a netCDF dimension but not a netCDF variable.";
  if (H5Lexists(file_, dimension.name.c_str(), H5P_DEFAULT) <= 0) {
    const hsize_t size = dimension.size;
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation.id(), false);
    const Handle scale(H5Dcreate2(file_,
                                  dimension.name.c_str(),
                                  H5T_IEEE_F32BE,
                                  space.id(),
                                  H5P_DEFAULT,
                                  creation.id(),
                                  H5P_DEFAULT),
                       H5Dclose);
    H5DSset_scale(scale.id(), title.c_str());
  }
  const Handle scale(H5Dopen2(file_, dimension.name.c_str(), H5P_DEFAULT), H5Dclose);
  if (H5DSattach_scale(data, scale.id(), index) < 0) {
    throw Error(path_ + ": dimension '" + dimension.name + "' cannot be written");
  }
}

void H5Writer::write(const std::string& name,
                     const std::vector<Dimension>& dimensions,
                     std::int64_t type,
                     const void* values,
                     std::size_t count,
                     const std::string& units) {
  std::vector<hsize_t> sizes;
  std::size_t total = 1;
  for (const Dimension& dimension : dimensions) {
    sizes.push_back(dimension.size);
    total *= dimension.size;
  }
  if (total != count) throw Error(path_ + ": " + name + ": shape and number of values differ");
  const Handle space(sizes.empty()
                         ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                     H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), false);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.id(), 1);
  const Handle data(
      H5Dcreate2(file_, name.c_str(), type, space.id(), links.id(), creation.id(), H5P_DEFAULT),
      H5Dclose);
  if (!data.ok() || H5Dwrite(data.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
    throw Error(path_ + ": " + name + ": cannot be written", "check the free space");
  }
  for (unsigned i = 0; i < dimensions.size(); ++i)
    attach(data.id(), i, dimensions[i]);
  if (!units.empty()) attribute(name, "units", units);
}

void H5Writer::write(const std::string& name,
                     const std::vector<Dimension>& dimensions,
                     std::span<const float> values,
                     const std::string& units) {
  write(name, dimensions, H5T_NATIVE_FLOAT, values.data(), values.size(), units);
}

void H5Writer::write(const std::string& name,
                     const std::vector<Dimension>& dimensions,
                     std::span<const double> values,
                     const std::string& units) {
  write(name, dimensions, H5T_NATIVE_DOUBLE, values.data(), values.size(), units);
}

void H5Writer::write(const std::string& name, std::int32_t value) {
  write(name, {}, H5T_NATIVE_INT32, &value, 1, "");
}

void H5Writer::attribute(const std::string& object,
                         const std::string& name,
                         std::string_view text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), std::max<std::size_t>(text.size(), 1));
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  const std::string padded = text.empty() ? std::string(1, '\0') : std::string(text);
  const Handle target(H5Oopen(file_, object.c_str(), H5P_DEFAULT), H5Oclose);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(
      H5Acreate2(target.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  if (!attribute.ok() || H5Awrite(attribute.id(), type.id(), padded.data()) < 0) {
    throw Error(path_ + ": " + object + ": attribute '" + name + "' cannot be written");
  }
}

void H5Writer::commit() {
  const bool flushed = H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0;
  const bool closed = H5Fclose(std::exchange(file_, -1)) >= 0;
  if (!flushed || !closed) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    throw Error(path_ + ": cannot be written", "check the free space");
  }
  std::filesystem::rename(temporary_, path_);
}

H5Reader::H5Reader(std::string path) : path_(std::move(path)) {
  silence();
  if (!std::filesystem::exists(path_)) throw Error(path_ + ": no such file");
  file_ = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file_ >= 0) return;
  if (!has_signature(path_)) {
    throw Error(path_ + ": is not an HDF5 file (expected HDF5 or NetCDF-4)",
                "convert a classic NetCDF file with 'nccopy -k nc4'");
  }
  throw Error(path_ + ": is cut short or damaged (" + last_cause() + ")",
              "copy or download the file again");
}

H5Reader::~H5Reader() {
  if (file_ >= 0) H5Fclose(file_);
}

void H5Reader::refuse(const std::string& what, const std::string& hint) const {
  throw Error(path_ + ": " + what, hint);
}

std::vector<std::size_t> H5Reader::sizes(const std::string& name) const {
  const Handle data(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!data.ok()) refuse("has no array '" + name + "'", "the README describes the layout");
  const Handle type(H5Dget_type(data.id()), H5Tclose);
  if (H5Tget_class(type.id()) != H5T_FLOAT || H5Tget_size(type.id()) != 4) {
    refuse("array '" + name + "' has " + type_name(type.id()) +
               ", expected 32-bit floating point numbers",
           "the README describes the layout");
  }
  const Handle space(H5Dget_space(data.id()), H5Sclose);
  std::vector<hsize_t> sizes(
      static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space.id()), 0)));
  H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
  return {sizes.begin(), sizes.end()};
}

std::vector<float> H5Reader::floats(const std::string& name) const {
  std::size_t total = 1;
  for (const std::size_t size : sizes(name))
    total *= size;
  std::vector<float> values(total);
  const Handle data(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (H5Dread(data.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    refuse("array '" + name + "' cannot be read (" + last_cause() + ")",
           "copy or download the file again");
  }
  return values;
}

std::vector<double> H5Reader::doubles(const std::string& name, std::size_t count) const {
  const Handle data(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!data.ok()) refuse("has no array '" + name + "'", "the README describes the layout");
  const Handle type(H5Dget_type(data.id()), H5Tclose);
  if (H5Tget_class(type.id()) != H5T_FLOAT) {
    refuse("array '" + name + "' has " + type_name(type.id()) + ", expected floating point numbers",
           "the README describes the layout");
  }
  const Handle space(H5Dget_space(data.id()), H5Sclose);
  const auto found = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.id()));
  if (found != count) {
    refuse("array '" + name + "' has " + std::to_string(found) + " values, expected " +
               std::to_string(count),
           "the README describes the layout");
  }
  std::vector<double> values(count);
  if (H5Dread(data.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    refuse("array '" + name + "' cannot be read (" + last_cause() + ")",
           "copy or download the file again");
  }
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(values.begin(), values.end(), finite)) {
    refuse("array '" + name + "' has a value that is not finite", "was the training stable?");
  }
  return values;
}

std::size_t H5Reader::count(const std::string& name) const {
  const Handle data(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!data.ok()) refuse("has no array '" + name + "'", "the README describes the layout");
  const Handle space(H5Dget_space(data.id()), H5Sclose);
  return static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.id()));
}

std::string H5Reader::units(const std::string& name) const {
  const Handle data(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!data.ok() || H5Aexists(data.id(), "units") <= 0) return {};
  const Handle attribute(H5Aopen(data.id(), "units", H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  if (H5Tget_class(type.id()) != H5T_STRING) refuse("units of '" + name + "' are not a text", {});
  if (H5Tis_variable_str(type.id()) > 0) {
    char* text = nullptr;
    const Handle memory(H5Tcopy(type.id()), H5Tclose);
    if (H5Aread(attribute.id(), memory.id(), &text) < 0 || text == nullptr) return {};
    std::string units = text;
    H5free_memory(text);
    return units;
  }
  std::string units(H5Tget_size(type.id()), '\0');
  if (H5Aread(attribute.id(), type.id(), units.data()) < 0) return {};
  return units.c_str();
}

}  // namespace kessler
