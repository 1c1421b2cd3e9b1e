#pragma once

#include "unit/arrays/h5_maker.hpp"

#include <array>
#include <fstream>
#include <iterator>

namespace sabath::test {

/// Numbers "a" (as they are) and "b" (packed), and texts "x" of any length.
inline void make_plain_hdf5(const std::filesystem::path& path) {
  const H5Id file = make_file(path);
  const std::array<std::int32_t, 4> numbers{1, 2, 3, 4};
  put(file.get(), "a", H5T_STD_I32LE, H5T_NATIVE_INT32, {4}, numbers.data());
  const H5Id plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = 2;
  REQUIRE(H5Pset_chunk(plan.get(), 1, &chunk) >= 0);
  REQUIRE(H5Pset_deflate(plan.get(), 1) >= 0);
  put(file.get(), "b", H5T_STD_I32LE, H5T_NATIVE_INT32, {4}, numbers.data(), plan.get());
  const H5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
  REQUIRE(H5Tset_size(text.get(), H5T_VARIABLE) >= 0);
  const std::array<const char*, 2> texts{"one", "two"};
  put(file.get(), "x", text.get(), text.get(), {2}, texts.data());
}

inline void overwrite(const std::filesystem::path& path,
                      const std::string& behind,
                      std::size_t offset,
                      const std::string& bytes) {
  std::string content;
  {
    std::ifstream file(path, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(file), {});
  }
  const std::size_t at = content.find(behind);
  REQUIRE(at != std::string::npos);
  content.replace(at + offset, bytes.size(), bytes);
  std::ofstream(path, std::ios::binary) << content;
}

/// The same, but for a heap of texts with an object of no size: HDF5 1.10 reads "x" for ever.
inline void make_endless_hdf5(const std::filesystem::path& path) {
  make_plain_hdf5(path);
  // Header of 16 bytes, "one" with its own of 16 in 24 bytes; then number and size of "two".
  overwrite(path, "GCOL", 40, std::string(16, '\0'));
}

/// The same, but the names of its arrays lie at no address: HDF5 1.10 crashes when it is opened.
inline void make_crashing_hdf5(const std::filesystem::path& path) {
  make_plain_hdf5(path);
  overwrite(path, "TREE", 32, std::string(8, '\xff'));
}

}  // namespace sabath::test
