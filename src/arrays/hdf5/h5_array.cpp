#include "h5_array.hpp"

#include "byte_source.hpp"
#include "h5_error.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace sabath::arrays {
namespace {

/// Limit of the cache of chunks, unless one chunk is larger. It holds a row of chunks, so that a
/// flat range that ends inside a row does not have them decompressed twice.
constexpr std::uint64_t chunk_cache_bytes = 64U << 20U;
constexpr std::size_t chunk_cache_slots = 12'421;  // a prime, as HDF5 asks for
constexpr std::uint64_t text_block_bytes = 4U << 20U;
/// Many short sequences can be one long one: they may share their bytes.
constexpr std::uint64_t most_unknown_texts = 32;
/// HDF5 clears its whole buffer for each read of such texts: 1 MiB unless it has another size.
constexpr std::size_t texts_buffer_bytes = 16U << 10U;

/// Size of the chunks that one row of values goes through.
std::uint64_t cache_bytes(hid_t dataset) {
  const H5Id plan(H5Dget_create_plist(dataset), H5Pclose);
  const H5Id space(H5Dget_space(dataset), H5Sclose);
  const H5Id type(H5Dget_type(dataset), H5Tclose);
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  std::array<hsize_t, H5S_MAX_RANK> shape{};
  const int rank = H5Pget_layout(plan.get()) == H5D_CHUNKED
                       ? H5Pget_chunk(plan.get(), H5S_MAX_RANK, chunk.data())
                       : 0;
  if (rank <= 0 || H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr) != rank) return 0;
  std::uint64_t one = H5Tget_size(type.get());  // a chunk has less than 4 GiB
  std::uint64_t row = one * chunk[0];
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
    one *= chunk[i];
    const std::uint64_t across = (shape[i] + chunk[i] - 1) / chunk[i] * chunk[i];
    if (i > 0) row = std::min(chunk_cache_bytes, row) * std::min(chunk_cache_bytes, across);
  }
  if (one > most_at_once) return chunk_cache_bytes;  // not packed: read where it lies
  return std::max(one, std::min(chunk_cache_bytes, row));
}

bool has_fixed_length(hid_t type) {
  return H5Tis_variable_str(type) <= 0 && H5Tdetect_class(type, H5T_VLEN) <= 0;
}

/// Frees what HDF5 allocated for strings and sequences in a buffer.
class Reclaim {
 public:
  Reclaim(hid_t type, hsize_t count, void* buffer)
      : type_(type), space_(H5Screate_simple(1, &count, nullptr), H5Sclose), buffer_(buffer) {}
  ~Reclaim() { H5Dvlen_reclaim(type_, space_.get(), H5P_DEFAULT, buffer_); }
  Reclaim(const Reclaim&) = delete;
  Reclaim& operator=(const Reclaim&) = delete;

 private:
  hid_t type_;
  H5Id space_;
  void* buffer_;
};

}  // namespace

H5Array::H5Array(hid_t file, std::uint64_t file_bytes, const Entry& entry, std::string place)
    : file_(file), entry_(entry), place_(std::move(place)) {
  H5Id type;
  const H5Id group = checked(H5Oopen_by_addr(file_, entry_.group), H5Oclose, place_, "cannot read");
  if (entry_.attribute.empty()) {
    open_dataset(group.get(), type);
  } else {
    open_attribute(group.get(), type);
  }
  leaf_ = std::move(leaves_of(type.get(), place_).at(entry_.leaf));
  shape_ = entry_.info.shape;
  shape_.resize(shape_.size() - leaf_.inner.size());
  offset_ = plain_offset(type.get(), file_bytes);
  const std::size_t most = std::max(H5Tget_size(type.get()), H5Tget_size(leaf_.memory.get()));
  if (has_fixed_length(leaf_.value.get()) || most * most_unknown_texts > texts_buffer_bytes) return;
  transfer_ = H5Id(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_buffer(transfer_.get(), texts_buffer_bytes, nullptr, nullptr);
}

void H5Array::open_dataset(hid_t group, H5Id& type) {
  if (!entry_.info.unreadable.empty()) {
    throw base::Error(base::ErrorKind::integrity,
                      place_ + ": cannot read: it " + entry_.info.unreadable);
  }
  const H5Id access = checked(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, place_, "cannot read");
  const auto open = [&] {
    return checked(
        H5Dopen2(group, entry_.name.c_str(), access.get()), H5Dclose, place_, "cannot read");
  };
  const std::uint64_t cache = cache_bytes(open().get());
  H5Pset_chunk_cache(access.get(), chunk_cache_slots, cache, 1.0);
  object_ = open();
  space_ = checked(H5Dget_space(object_.get()), H5Sclose, place_, "cannot read");
  type = checked(H5Dget_type(object_.get()), H5Tclose, place_, "cannot read");
}

void H5Array::open_attribute(hid_t group, H5Id& type) {
  object_ =
      checked(H5Aopen_by_name(
                  group, entry_.name.c_str(), entry_.attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
              H5Aclose,
              place_,
              "cannot read");
  space_ = checked(H5Aget_space(object_.get()), H5Sclose, place_, "cannot read");
  type = checked(H5Aget_type(object_.get()), H5Tclose, place_, "cannot read");
}

/// Values that need neither conversion nor unpacking are read without HDF5, which takes a multiple
/// of the time.
std::optional<std::uint64_t> H5Array::plain_offset(hid_t file_type,
                                                   std::uint64_t file_bytes) const {
  if (!entry_.attribute.empty() || base::size_of(leaf_.type) == 0) return std::nullopt;
  const H5Id plan(H5Dget_create_plist(object_.get()), H5Pclose);
  if (!plan || H5Pget_layout(plan.get()) != H5D_CONTIGUOUS ||
      H5Tequal(file_type, leaf_.memory.get()) <= 0) {
    return std::nullopt;
  }
  const haddr_t offset = H5Dget_offset(object_.get());
  const std::uint64_t bytes = entry_.info.elements() * base::size_of(leaf_.type);
  if (offset == HADDR_UNDEF || offset > file_bytes || bytes > file_bytes - offset) {
    return std::nullopt;  // never written, or damaged: HDF5 reports what is wrong
  }
  return offset;
}

void H5Array::read(std::uint64_t first, std::uint64_t count, std::span<std::byte> out) {
  const std::uint64_t per_element = leaf_.values_per_element();
  const std::uint64_t value_bytes = out.size() / count;
  const std::uint64_t end = first + count;
  std::byte* to = out.data();
  for (std::uint64_t taken = 0; first < end; first += taken, to += taken * value_bytes) {
    const std::uint64_t element = first / per_element;
    const std::uint64_t inside = first % per_element;
    if (inside == 0 && end - first >= per_element) {
      const std::uint64_t elements = (end - first) / per_element;
      read_elements(element, elements, to);
      taken = elements * per_element;
    } else {
      taken = std::min(per_element - inside, end - first);
      std::memcpy(to, whole_element(element) + inside * value_bytes, taken * value_bytes);
    }
  }
}

/// An element that is itself an array, and in which a range begins or ends. HDF5 reads it only as a
/// whole. The next range most often continues in it.
const std::byte* H5Array::whole_element(std::uint64_t element) {
  if (held_ == element) return held_bytes_.data();
  held_.reset();
  held_bytes_.resize(H5Tget_size(leaf_.memory.get()));
  read_elements(element, 1, held_bytes_.data());
  held_ = element;
  return held_bytes_.data();
}

std::vector<std::string> H5Array::texts(std::uint64_t first, std::uint64_t count) {
  const std::uint64_t size = H5Tget_size(leaf_.memory.get());
  const std::uint64_t per_element = leaf_.values_per_element();
  const std::uint64_t end = first + count;
  const std::uint64_t last = (end + per_element - 1) / per_element;
  const std::uint64_t room = std::max<std::uint64_t>(1, text_block_bytes / size);
  // Attributes are read whole each time.
  const bool is_known = has_fixed_length(leaf_.value.get()) || !entry_.attribute.empty();
  std::vector<std::string> texts;
  std::uint64_t length = 0;
  for (std::uint64_t from = first / per_element;
       from < last && (texts.empty() || length < texts_at_once_bytes);) {
    const std::uint64_t most = is_known ? room : std::min(room, texts_at_once_);
    const std::uint64_t elements = std::min(most, last - from);
    const std::uint64_t before = length;
    for (std::string& text : texts_of_elements(from, elements, first, end)) {
      length += text.size();
      texts.push_back(std::move(text));
    }
    const bool is_long = length - before >= texts_at_once_bytes;
    texts_at_once_ = is_long ? 1 : std::min(most_unknown_texts, 2 * elements);
    from += elements;
  }
  return texts;
}

std::vector<std::string> H5Array::texts_of_elements(std::uint64_t from,
                                                    std::uint64_t elements,
                                                    std::uint64_t first,
                                                    std::uint64_t end) {
  const std::uint64_t value_size = H5Tget_size(leaf_.value.get());
  const std::uint64_t per_element = leaf_.values_per_element();
  std::vector<std::byte> buffer(elements * H5Tget_size(leaf_.memory.get()));
  const Reclaim reclaim(leaf_.memory.get(), elements, buffer.data());
  read_elements(from, elements, buffer.data());
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < elements * per_element; ++i) {
    const std::uint64_t flat = from * per_element + i;
    if (flat < first || flat >= end) continue;
    std::string text = text_of(leaf_.value.get(), buffer.data() + i * value_size, file_);
    if (text.size() > longest_text) text = base::sha256_of(text).text();
    texts.push_back(std::move(text));
  }
  return texts;
}

std::uint64_t H5Array::unwritten(std::uint64_t first) {
  // The parts of a fill value that is an array are not alike.
  if (leaf_.values_per_element() != 1) return 0;
  if (!unwritten_) unwritten_.emplace(object_.get());
  return unwritten_->from(first);
}

void H5Array::read_elements(std::uint64_t first, std::uint64_t count, std::byte* out) {
  if (!entry_.attribute.empty()) return read_attribute(first, count, out);
  if (!shape_.empty()) return read_range(first, count, out);
  if (H5Dread(object_.get(), leaf_.memory.get(), H5S_ALL, H5S_ALL, transfer(), out) < 0)
    throw_hdf5(place_, "cannot read");
}

void H5Array::read_attribute(std::uint64_t first, std::uint64_t count, std::byte* out) const {
  const std::size_t size = H5Tget_size(leaf_.memory.get());
  const auto elements = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space_.get()));
  std::vector<std::byte> all(elements * size);
  if (H5Aread(object_.get(), leaf_.memory.get(), all.data()) < 0) throw_hdf5(place_, "cannot read");
  std::memcpy(out, all.data() + first * size, count * size);
  const std::uint64_t end = first + count;
  const Reclaim before(leaf_.memory.get(), first, all.data());
  const Reclaim behind(leaf_.memory.get(), elements - end, all.data() + end * size);
}

/// Reads a flat range of an n-dimensional array as few boxes. Each step takes as many whole rows,
/// planes ... as begin at the position and fit: at most 2n - 1 boxes.
void H5Array::read_range(std::uint64_t first, std::uint64_t count, std::byte* out) {
  const std::size_t rank = shape_.size();
  const std::size_t size = H5Tget_size(leaf_.memory.get());
  std::array<hsize_t, H5S_MAX_RANK> start{};
  std::array<hsize_t, H5S_MAX_RANK> extent{};
  while (count > 0) {
    std::uint64_t rest = first;
    for (std::size_t i = rank; i-- > 0;) {
      start[i] = rest % shape_[i];
      rest /= shape_[i];
      extent[i] = 1;
    }
    std::size_t axis = rank - 1;
    std::uint64_t slice = 1;  // elements of one step along `axis`
    while (axis > 0 && start[axis] == 0 && count / slice >= shape_[axis]) {
      extent[axis] = shape_[axis];
      slice *= shape_[axis];
      --axis;
    }
    extent[axis] = std::min<hsize_t>(count / slice, shape_[axis] - start[axis]);
    const std::uint64_t taken = extent[axis] * slice;
    read_box(start.data(), extent.data(), out);
    first += taken;
    count -= taken;
    out += taken * size;
  }
}

// The rank in memory is that of the file: with other ranks HDF5 walks through chunks element by
// element, which is several times slower.
void H5Array::read_box(const hsize_t* start, const hsize_t* extent, std::byte* out) {
  const H5Id memory(H5Screate_simple(static_cast<int>(shape_.size()), extent, nullptr), H5Sclose);
  if (H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, start, nullptr, extent, nullptr) < 0 ||
      H5Dread(object_.get(), leaf_.memory.get(), memory.get(), space_.get(), transfer(), out) < 0) {
    throw_hdf5(place_, "cannot read");
  }
}

}  // namespace sabath::arrays
