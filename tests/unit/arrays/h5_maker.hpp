#pragma once

#include "arrays/hdf5/h5_id.hpp"

#include <arrays/hdf5/hdf5_file.hpp>
#include <catch2/catch.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sabath::test {

using arrays::H5Id;

inline H5Id make_file(const std::filesystem::path& path) {
  H5Id file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  REQUIRE(file);
  return file;
}

inline H5Id make_space(const std::vector<hsize_t>& shape) {
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose};
}

/// Writes a data set; `plan` is a creation property list.
inline void put(hid_t parent,
                const std::string& name,
                hid_t file_type,
                hid_t memory_type,
                const std::vector<hsize_t>& shape,
                const void* data,
                hid_t plan = H5P_DEFAULT) {
  const H5Id space = make_space(shape);
  const H5Id dataset(
      H5Dcreate2(parent, name.c_str(), file_type, space.get(), H5P_DEFAULT, plan, H5P_DEFAULT),
      H5Dclose);
  REQUIRE(dataset);
  REQUIRE(H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
}

inline void put_attribute(hid_t object,
                          const std::string& name,
                          hid_t type,
                          const std::vector<hsize_t>& shape,
                          const void* data) {
  const H5Id space = make_space(shape);
  const H5Id attribute(
      H5Acreate2(object, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  REQUIRE(attribute);
  REQUIRE(H5Awrite(attribute.get(), type, data) >= 0);
}

inline H5Id make_group(hid_t parent, const std::string& name) {
  H5Id group(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  REQUIRE(group);
  return group;
}

inline base::ArrayInfo info_of(base::ArraySource& source, const std::string& path) {
  for (const base::ArrayInfo& info : source.list()) {
    if (info.path == path) return info;
  }
  FAIL("no array '" << path << "'");
  return {};
}

inline std::vector<std::string> paths_of(base::ArraySource& source) {
  std::vector<std::string> paths;
  for (const base::ArrayInfo& info : source.list())
    paths.push_back(info.path);
  return paths;
}

template <class T>
std::vector<T> read_range(base::ArraySource& source,
                          const std::string& path,
                          std::uint64_t first,
                          std::uint64_t count) {
  const base::ArrayInfo info = info_of(source, path);
  REQUIRE(base::size_of(info.type) == sizeof(T));
  std::vector<T> values(count);
  source.read(info, first, count, std::as_writable_bytes(std::span(values)));
  return values;
}

template <class T>
std::vector<T> read_all(base::ArraySource& source, const std::string& path) {
  return read_range<T>(source, path, 0, info_of(source, path).elements());
}

inline std::vector<std::string> read_texts(base::ArraySource& source, const std::string& path) {
  const base::ArrayInfo info = info_of(source, path);
  return source.read_texts(info, 0, info.elements());
}

}  // namespace sabath::test
