#include "array_formats.hpp"
#include "file_bytes.hpp"
#include "hdf5/h5_extent.hpp"
#include "npy_header.hpp"
#include "reader/reader_client.hpp"
#include "zip_members.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/reader_ended.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace sabath::arrays {
namespace {

namespace fs = std::filesystem;
using Opener = Source (*)(const fs::path&, const base::ReadLimits&);
using base::ReadLimits;

/// An HDF5 part behind something else may end before its file does. Then it is a member of an
/// archive, not a file with a user block, and the other members would not be read. A header of tar
/// takes 512 bytes.
bool is_hdf5(ByteSource& file) {
  const auto extent = hdf5_extent(file);
  return extent && (extent->begin == 0 || (extent->end && *extent->end >= file.size()));
}

bool is_netcdf_classic(const std::string& start) {
  return start.size() >= 4 && start.starts_with("CDF") &&
         (start[3] == 1 || start[3] == 2 || start[3] == 5);
}

/// Whether eight bytes with the length of a JSON header begin the file.
bool is_safetensors(ByteSource& file) {
  std::uint64_t length = 0;
  const std::string start = file.text(0, sizeof length + 2);
  if (start.size() < sizeof length + 2) return false;
  std::memcpy(&length, start.data(), sizeof length);
  return length >= 2 && length <= file.size() - sizeof length && start[8] == '{' &&
         (start[9] == '"' || start[9] == '}' || start[9] == ' ');
}

Source open_npy(const fs::path& path, const ReadLimits& limits) {
  std::vector<std::unique_ptr<ByteSource>> sources;
  sources.push_back(std::make_unique<FileBytes>(path, limits));
  NameBudget names(path.string());
  auto arrays = read_npy(*sources.front(), "data", 0, path.string(), names);
  return open_strided(path.string(), std::move(arrays), std::move(sources));
}

Source open_npz(const fs::path& path, const ReadLimits& limits) {
  constexpr std::string_view ending = ".npy";
  const auto members = ZipMembers::open(path, limits);
  std::vector<std::unique_ptr<ByteSource>> sources;
  std::vector<StridedArray> arrays;
  NameBudget names(path.string());
  for (std::size_t i = 0; i < members->list().size(); ++i) {
    std::string name = members->list()[i].path;
    sources.push_back(members->source(i));
    if (!name.ends_with(ending)) {
      arrays.push_back(fixed_text(name, digest_text(*sources.back())));
      continue;
    }
    name.resize(name.size() - ending.size());
    auto read = read_npy(*sources.back(), name, i, path.string() + ":" + name, names);
    std::move(read.begin(), read.end(), std::back_inserter(arrays));
  }
  return open_strided(path.string(), std::move(arrays), std::move(sources));
}

Source open_raw(const fs::path& path, const spec::RawLayout& layout, const ReadLimits& limits) {
  std::vector<std::unique_ptr<ByteSource>> sources;
  sources.push_back(std::make_unique<FileBytes>(path, limits));
  const std::uint64_t size = sources.front()->size();
  const std::uint64_t item = base::size_of(layout.type);
  StridedArray array;
  array.info = {"data", layout.type, layout.shape, false};
  if (layout.shape.empty()) array.info.shape = {size / item};
  if (product_of(item, array.info.shape) != size) {
    throw base::Error(base::ErrorKind::integrity,
                      path.string() + ": has " + std::to_string(size) +
                          " bytes, which is not what its declared type and shape take");
  }
  pack(array, item);
  array.swapped = layout.big_endian != (std::endian::native == std::endian::big);
  return open_strided(path.string(), {array}, std::move(sources));
}

bool is_keras(const ZipMembers& members) {
  return members.has("model.weights.h5") && members.has("config.json");
}

Source open_zip(const fs::path& path, const ReadLimits& limits) {
  const auto members = ZipMembers::open(path, limits);
  const auto is_npy = [](const base::ZipMember& member) { return member.path.ends_with(".npy"); };
  if (is_keras(*members)) return open_keras(path, limits);
  const bool is_npz = !members->list().empty() && std::ranges::all_of(members->list(), is_npy);
  return is_npz ? open_npz(path, limits) : nullptr;
}

/// Opens a format without a signature by its ending; null for other files.
Source open_by_ending(const fs::path& path, const ReadLimits& limits) {
  constexpr std::pair<const char*, Opener> known[] = {
      {".csv", open_csv}, {".tsv", open_csv}, {".onnx", open_onnx}};
  for (const auto& [ending, open] : known) {
    if (!path.string().ends_with(ending)) continue;
    try {
      return open(path, limits);
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::integrity) throw;
    }
  }
  return nullptr;
}

Source open_by_content(const fs::path& path, const ReadLimits& limits) {
  FileBytes file(path);
  const std::string start = file.text(0, 8);
  if (is_hdf5(file)) return open_hdf5_apart(path, {}, limits);
  if (start.starts_with(npy_magic)) return open_npy(path, limits);
  if (start.starts_with("PK\x03\x04")) return open_zip(path, limits);
  if (is_netcdf_classic(start)) return open_netcdf_classic(path, limits);
  if (is_safetensors(file)) return open_safetensors(path, limits);
  return open_by_ending(path, limits);
}

using Outside = std::vector<base::OutsideValues>;

Outside outside_by_content(const fs::path& path) {
  FileBytes file(path);
  if (is_hdf5(file)) return outside_values_apart(path);
  if (file.text(0, 4) == "PK\x03\x04")
    return is_keras(*ZipMembers::open(path)) ? outside_values_of_keras(path) : Outside{};
  return path.string().ends_with(".onnx") ? outside_values_of_onnx(path) : Outside{};
}

Outside outside_as_declared(const fs::path& path, const std::string& as) {
  if (as == "hdf5") return outside_values_apart(path);
  if (as == "onnx") return outside_values_of_onnx(path);
  if (as == "keras") return outside_values_of_keras(path);
  if (as != "netcdf") return {};
  FileBytes file(path);
  return is_netcdf_classic(file.text(0, 4)) ? Outside{} : outside_values_apart(path);
}

}  // namespace

Outside outside_values(const fs::path& path, const spec::OutputRule& rule) {
  try {
    return rule.as.empty() ? outside_by_content(path) : outside_as_declared(path, rule.as);
  } catch (const base::ReaderEnded&) {
    throw;  // it may lead out all the same
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::integrity) throw;
    return {};  // equal damage is equal
  }
}

Source open_arrays(const fs::path& path, const spec::OutputRule& rule, const ReadLimits& limits) {
  if (rule.as == "bytes") return nullptr;
  if (rule.as.empty()) return open_by_content(path, limits);
  if (rule.as == "raw") return open_raw(path, rule.raw.value(), limits);
  if (rule.as == "netcdf") {
    FileBytes file(path);
    return is_netcdf_classic(file.text(0, 4)) ? open_netcdf_classic(path, limits)
                                              : open_hdf5_apart(path, {}, limits);
  }
  constexpr std::pair<std::string_view, Opener> known[] = {{"npy", open_npy},
                                                           {"npz", open_npz},
                                                           {"csv", open_csv},
                                                           {"safetensors", open_safetensors},
                                                           {"onnx", open_onnx}};
  for (const auto& [name, open] : known) {
    if (rule.as == name) return open(path, limits);
  }
  return rule.as == "keras" ? open_keras(path, limits) : open_hdf5_apart(path, {}, limits);
}

}  // namespace sabath::arrays
