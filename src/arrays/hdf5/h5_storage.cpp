#include "h5_storage.hpp"

#include "h5_error.hpp"

#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace sabath::arrays {
namespace {

/// h5py marks plug-in filters as optional: the chunks show whether one was applied.
bool is_skipped(hid_t dataset, int filter) {
#if H5_VERSION_GE(1, 10, 5)
  const H5Id space(H5Dget_space(dataset), H5Sclose);
  hsize_t chunks = 0;
  if (H5Dget_num_chunks(dataset, space.get(), &chunks) < 0) return false;
  unsigned mask = 0;
  haddr_t address = 0;
  hsize_t size = 0;
  std::array<hsize_t, H5S_MAX_RANK> offset{};
  if (chunks == 0) return true;
  return H5Dget_chunk_info(dataset, space.get(), 0, offset.data(), &mask, &address, &size) >= 0 &&
         (mask >> static_cast<unsigned>(filter) & 1U) != 0;
#else
  return false;
#endif
}

std::string missing_filter(hid_t dataset, hid_t plan) {
  const int filters = H5Pget_nfilters(plan);
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    std::size_t parameters = 0;
    std::array<char, 256> name{};
    const H5Z_filter_t filter = H5Pget_filter2(plan,
                                               static_cast<unsigned>(i),
                                               &flags,
                                               &parameters,
                                               nullptr,
                                               name.size() - 1,
                                               name.data(),
                                               &config);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    if ((flags & H5Z_FLAG_OPTIONAL) != 0 && is_skipped(dataset, i)) continue;
    return "is packed with filter " + std::to_string(filter) + " '" + name.data() +
           "', which this HDF5 library does not have (HDF5_PLUGIN_PATH names the folder of its "
           "plug-in)";
  }
  return {};
}

/// Packed zeros need a thousandth of their size in the file.
std::string too_large_chunk(hid_t dataset, hid_t plan) {
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  if (H5Pget_layout(plan) != H5D_CHUNKED || H5Pget_nfilters(plan) <= 0) return {};
  const int rank = H5Pget_chunk(plan, H5S_MAX_RANK, chunk.data());
  const H5Id type(H5Dget_type(dataset), H5Tclose);
  std::uint64_t bytes = H5Tget_size(type.get());  // a chunk has less than 4 GiB
  for (int axis = 0; axis < rank; ++axis)
    bytes *= chunk[static_cast<std::size_t>(axis)];
  if (bytes <= most_at_once) return {};
  return "is packed in chunks of " + std::to_string(bytes) +
         " bytes, more than are unpacked at once";
}

}  // namespace

bool H5Storage::note(hid_t dataset, hid_t plan, Entry& entry) {
  const std::string pattern = note_outside(plan, entry);
  const bool is_outside = !pattern.empty() || !entry.outside.empty();
  std::string why;
  if (is_outside) {
    const std::string& file = entry.outside.empty() ? pattern : entry.outside.front();
    entry.info.type = base::ArrayType::opaque;
    why = base::printable("has its data outside, in '" + file + "'" + inside_only);
  } else {
    why = base::printable(missing_filter(dataset, plan));
    if (why.empty()) why = too_large_chunk(dataset, plan);
  }
  datasets_[entry.object] = why;
  entry.info.unreadable = std::move(why);
  return !is_outside;
}

std::string H5Storage::note_outside(hid_t plan, Entry& entry) {
  std::array<char, 1024> name{};
  const int external = H5Pget_external_count(plan);
  for (int i = 0; i < external; ++i) {
    H5Pget_external(plan, static_cast<unsigned>(i), name.size() - 1, name.data(), nullptr, nullptr);
    entry.outside.emplace_back(name.data());
  }
  std::string pattern;
  std::size_t sources = 0;
  if (H5Pget_layout(plan) != H5D_VIRTUAL) return pattern;
  const std::string& path = entry.info.path;
  if (H5Pget_virtual_count(plan, &sources) < 0) throw_hdf5(place_ + ":/" + path, "cannot read");
  for (std::size_t i = 0; i < sources; ++i) {
    if (H5Pget_virtual_filename(plan, i, name.data(), name.size()) < 0) {
      throw_hdf5(place_ + ":/" + path, "cannot read its layout");
    }
    if (std::string(name.data()) != ".") {
      entry.outside.emplace_back(name.data());
      continue;
    }
    const std::string& source = note_virtual_source(plan, i, path);
    if (source.find('%') != std::string::npos) pattern = source;
  }
  return pattern;
}

const std::string& H5Storage::note_virtual_source(hid_t plan,
                                                  std::size_t index,
                                                  const std::string& path) {
  const ssize_t length = H5Pget_virtual_dsetname(plan, index, nullptr, 0);
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(length, 0)) + 1, '\0');
  if (length < 0 || H5Pget_virtual_dsetname(plan, index, name.data(), name.size()) < 0) {
    throw_hdf5(place_ + ":/" + path, "cannot read its layout");
  }
  name.pop_back();
  return virtual_sources_["/" + path].emplace_back(name.starts_with('/') ? name : "/" + name);
}

void H5Storage::require_plain_sources(Entry& entry) const {
  const auto sources = virtual_sources_.find(entry.object);
  if (sources == virtual_sources_.end() || !entry.attribute.empty()) return;
  for (const std::string& source : sources->second) {
    const auto met = datasets_.find(source);
    const bool is_plain =
        met != datasets_.end() && met->second.empty() && !virtual_sources_.contains(source);
    if (is_plain || !entry.info.unreadable.empty()) continue;
    entry.info.unreadable = base::printable("is a view of '" + source +
                                            "', which is not a plain data set of this file");
  }
}

}  // namespace sabath::arrays
