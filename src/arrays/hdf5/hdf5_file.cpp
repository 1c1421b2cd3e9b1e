#include "file_bytes.hpp"
#include "h5_error.hpp"
#include "h5_extent.hpp"
#include "h5_text.hpp"
#include "h5_type.hpp"
#include "h5_unwritten.hpp"
#include "h5_walk.hpp"
#include "hdf5_source.hpp"

#include <sabath/arrays/hdf5_file.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

namespace sabath::arrays {
namespace {

/// Decompressed chunks that are kept, so that a flat range which ends inside a row of chunks does
/// not have them decompressed twice: as many as a row has, up to so many bytes, but one in any
/// case.
constexpr std::uint64_t chunk_cache_bytes = 64U << 20U;
constexpr std::size_t chunk_cache_slots = 12'421;  // a prime, as HDF5 asks for
constexpr std::uint64_t text_block_bytes = 4U << 20U;
/// Many short sequences can be one long one: they may share their bytes.
constexpr std::uint64_t most_unknown_texts = 32;
/// HDF5 clears its whole buffer for each read of such texts: 1 MiB unless it has another size.
constexpr std::size_t texts_buffer_bytes = 16U << 10U;

H5Id open_file(const std::filesystem::path& path, const std::string& place) {
  const H5Id access = checked(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, place, "cannot open as HDF5");
#if H5_VERSION_GE(1, 10, 7)
  // Finished files do not change; a lock would only fail where the file system has none.
  H5Pset_file_locking(access.get(), false, true);
#endif
  return checked(
      H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose, place, "cannot open as HDF5");
}

class Hdf5File final : public Hdf5Source {
 public:
  Hdf5File(const std::filesystem::path& path, const std::string& place)
      : place_(place),
        bytes_(path),  // before HDF5, which says only "unable to open"
        file_(open_file(path, place)),
        entries_(walk(file_.get(), place_)) {
    H5Pset_buffer(transfer_of_texts_.get(), texts_buffer_bytes, nullptr, nullptr);
    add_around();
  }

  // The error printer is per thread: silence it on the one that closes, too.
  ~Hdf5File() override {
    const QuietErrors quiet;
    current_.reset();
    file_.close();
  }
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  std::vector<base::ArrayInfo> list() override {
    std::vector<base::ArrayInfo> infos;
    infos.reserve(entries_.size());
    for (const Entry& entry : entries_)
      infos.push_back(entry.info);
    return infos;
  }

  void read(const base::ArrayInfo& array,
            std::uint64_t first,
            std::uint64_t count,
            std::span<std::byte> out) override {
    const QuietErrors quiet;
    const Entry& entry = find(array);
    const std::uint64_t size = base::size_of(entry.info.type);
    const std::uint64_t elements = entry.info.elements();
    if (size == 0 || first > elements || count > elements - first || out.size() != count * size) {
      throw base::Error(base::ErrorKind::internal,
                        at(entry) + ": cannot read: range or buffer do not fit the array");
    }
    if (count == 0) return;
    Current& array_now = current(entry);
    if (array_now.offset) return bytes_.read(*array_now.offset + first * size, out);
    read_values(array_now, first, count, out);
  }

  std::vector<std::string> read_texts(const base::ArrayInfo& array,
                                      std::uint64_t first,
                                      std::uint64_t count) override {
    const QuietErrors quiet;
    const Entry& entry = find(array);
    const std::uint64_t elements = entry.info.elements();
    if (first > elements || count > elements - first) {
      throw base::Error(base::ErrorKind::internal,
                        at(entry) + ": cannot read: the range does not fit the array");
    }
    if (!entry.link.empty()) return std::vector<std::string>(count, entry.link);
    return count == 0 ? std::vector<std::string>{} : texts_of(current(entry), first, count);
  }

  std::uint64_t unwritten(const base::ArrayInfo& array, std::uint64_t first) override {
    const QuietErrors quiet;
    const Entry& entry = find(array);
    if (!entry.link.empty() || !entry.attribute.empty() || first >= entry.info.elements()) return 0;
    Current& array_now = current(entry);
    // The parts of a fill value that is an array are not alike.
    if (array_now.leaf.values_per_element() != 1) return 0;
    if (!array_now.unwritten) array_now.unwritten.emplace(array_now.object.get());
    return array_now.unwritten->from(first);
  }

  std::optional<std::uint64_t> offset_in_file(const base::ArrayInfo& array) override {
    const QuietErrors quiet;
    const Entry& entry = find(array);
    return entry.link.empty() ? current(entry).offset : std::nullopt;
  }

 private:
  /// The array that was read last, kept open with its cache of chunks.
  struct Current {
    const Entry* entry = nullptr;
    H5Id object{};  ///< data set or attribute
    H5Id space{};
    Leaf leaf{};
    std::vector<std::uint64_t> shape{};  ///< of elements, without the leaf's inner dimensions
    std::uint64_t texts_at_once = 1;     ///< of a length that only reading shows
    hid_t transfer = H5P_DEFAULT;        ///< how it is read
    /// Where its values lie in the file one after the other as they are in memory, if they do.
    std::optional<std::uint64_t> offset{};
    std::optional<H5Unwritten> unwritten{};  ///< once it was asked for
    std::optional<std::uint64_t> held{};     ///< the element that is in `held_bytes`
    std::vector<std::byte> held_bytes{};
  };

  std::string at(const Entry& entry) const { return place_ + ":/" + entry.info.path; }

  /// What stands before the file's signature, and behind the end that it says, is by its digest: it
  /// could be anything, such as another file.
  void add_around() {
    const auto extent = hdf5_extent(bytes_);
    if (!extent) return;
    if (extent->end && *extent->end < bytes_.size())
      add_digest("(rest)", {*extent->end, bytes_.size()});
    if (extent->begin > 0) add_digest("(user block)", {dated_bytes(), extent->begin});
  }

  /// MATLAB's user block begins with a text that says when the file was made.
  std::uint64_t dated_bytes() const {
    constexpr std::string_view matlab = "MATLAB 7.3 MAT-file";
    constexpr std::uint64_t text_bytes = 116;
    return bytes_.text(0, matlab.size()) == matlab ? text_bytes : 0;
  }

  void add_digest(const char* name, ByteRange range) {
    Entry added;
    added.info = {name, base::ArrayType::text, {}, false};
    added.link = digest_text(bytes_, range);
    const auto place = first_from(added.info);
    if (place != entries_.end() && place->info.path == added.info.path) {
      throw base::Error(base::ErrorKind::integrity, at(added) + ": two arrays have this name");
    }
    entries_.insert(place, std::move(added));
  }

  std::vector<Entry>::const_iterator first_from(const base::ArrayInfo& array) const {
    return std::lower_bound(entries_.begin(),
                            entries_.end(),
                            std::tie(array.path, array.is_attribute),
                            [](const Entry& entry, const auto& wanted) {
                              return std::tie(entry.info.path, entry.info.is_attribute) < wanted;
                            });
  }

  const Entry& find(const base::ArrayInfo& array) const {
    const auto found = first_from(array);
    if (found == entries_.end() || found->info != array) {
      throw base::Error(base::ErrorKind::internal,
                        place_ + ":/" + array.path + ": cannot read: no such array");
    }
    return *found;
  }

  Current& current(const Entry& entry) {
    if (current_ && current_->entry == &entry) return *current_;
    current_.reset();
    Current opened;
    opened.entry = &entry;
    const std::string place = at(entry);
    H5Id type;
    const H5Id group =
        checked(H5Oopen_by_addr(file_.get(), entry.group), H5Oclose, place, "cannot read");
    if (entry.attribute.empty()) {
      opened.object = open_dataset(entry, group.get());
      opened.space = checked(H5Dget_space(opened.object.get()), H5Sclose, place, "cannot read");
      type = checked(H5Dget_type(opened.object.get()), H5Tclose, place, "cannot read");
    } else {
      opened.object = checked(
          H5Aopen_by_name(
              group.get(), entry.name.c_str(), entry.attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
          H5Aclose,
          place,
          "cannot read");
      opened.space = checked(H5Aget_space(opened.object.get()), H5Sclose, place, "cannot read");
      type = checked(H5Aget_type(opened.object.get()), H5Tclose, place, "cannot read");
    }
    opened.leaf = std::move(leaves_of(type.get(), place).at(entry.leaf));
    opened.shape = entry.info.shape;
    opened.shape.resize(opened.shape.size() - opened.leaf.inner.size());
    opened.offset = plain_offset(opened, type.get());
    const std::size_t most =
        std::max(H5Tget_size(type.get()), H5Tget_size(opened.leaf.memory.get()));
    if (!has_fixed_length(opened.leaf.value.get()) &&
        most * most_unknown_texts <= texts_buffer_bytes)
      opened.transfer = transfer_of_texts_.get();
    return current_.emplace(std::move(opened));
  }

  H5Id open_dataset(const Entry& entry, hid_t group) const {
    const std::string place = at(entry);
    if (!entry.info.unreadable.empty()) {
      throw base::Error(base::ErrorKind::integrity,
                        place + ": cannot read: it " + entry.info.unreadable);
    }
    const H5Id access = checked(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, place, "cannot read");
    const auto open = [&] {
      return checked(
          H5Dopen2(group, entry.name.c_str(), access.get()), H5Dclose, place, "cannot read");
    };
    const std::uint64_t cache = cache_bytes(open().get());
    H5Pset_chunk_cache(access.get(), chunk_cache_slots, cache, 1.0);
    return open();
  }

  /// What the chunks take that one row of values goes through.
  static std::uint64_t cache_bytes(hid_t dataset) {
    const H5Id plan(H5Dget_create_plist(dataset), H5Pclose);
    const H5Id space(H5Dget_space(dataset), H5Sclose);
    const H5Id type(H5Dget_type(dataset), H5Tclose);
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    std::array<hsize_t, H5S_MAX_RANK> shape{};
    const int rank = H5Pget_layout(plan.get()) == H5D_CHUNKED
                         ? H5Pget_chunk(plan.get(), H5S_MAX_RANK, chunk.data())
                         : 0;
    if (rank <= 0 || H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr) != rank)
      return 0;
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

  /// Values that need neither conversion nor unpacking are read without HDF5, which takes a
  /// multiple of the time.
  std::optional<std::uint64_t> plain_offset(const Current& array, hid_t file_type) const {
    if (!array.entry->attribute.empty() || base::size_of(array.leaf.type) == 0) return std::nullopt;
    const H5Id plan(H5Dget_create_plist(array.object.get()), H5Pclose);
    if (!plan || H5Pget_layout(plan.get()) != H5D_CONTIGUOUS ||
        H5Tequal(file_type, array.leaf.memory.get()) <= 0) {
      return std::nullopt;
    }
    const haddr_t offset = H5Dget_offset(array.object.get());
    const std::uint64_t bytes = array.entry->info.elements() * base::size_of(array.leaf.type);
    if (offset == HADDR_UNDEF || offset > bytes_.size() || bytes > bytes_.size() - offset) {
      return std::nullopt;  // never written, or damaged: HDF5 says what is the matter
    }
    return offset;
  }

  void read_values(Current& array,
                   std::uint64_t first,
                   std::uint64_t count,
                   std::span<std::byte> out) {
    const std::uint64_t per_element = array.leaf.values_per_element();
    const std::uint64_t value_bytes = out.size() / count;
    const std::uint64_t end = first + count;
    std::byte* to = out.data();
    for (std::uint64_t taken = 0; first < end; first += taken, to += taken * value_bytes) {
      const std::uint64_t element = first / per_element;
      const std::uint64_t inside = first % per_element;
      if (inside == 0 && end - first >= per_element) {
        const std::uint64_t elements = (end - first) / per_element;
        read_elements(array, element, elements, to);
        taken = elements * per_element;
      } else {
        taken = std::min(per_element - inside, end - first);
        std::memcpy(to, whole_element(array, element) + inside * value_bytes, taken * value_bytes);
      }
    }
  }

  /// One that is itself an array, and in which a range begins or ends. HDF5 reads it only as a
  /// whole, and the next range most often goes on in it.
  const std::byte* whole_element(Current& array, std::uint64_t element) const {
    if (array.held == element) return array.held_bytes.data();
    array.held.reset();
    array.held_bytes.resize(H5Tget_size(array.leaf.memory.get()));
    read_elements(array, element, 1, array.held_bytes.data());
    array.held = element;
    return array.held_bytes.data();
  }

  std::vector<std::string> texts_of(Current& array, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t size = H5Tget_size(array.leaf.memory.get());
    const std::uint64_t per_element = array.leaf.values_per_element();
    const std::uint64_t end = first + count;
    const std::uint64_t last = (end + per_element - 1) / per_element;
    const std::uint64_t room = std::max<std::uint64_t>(1, text_block_bytes / size);
    const bool is_fixed = has_fixed_length(array.leaf.value.get());
    std::vector<std::string> texts;
    std::uint64_t length = 0;
    for (std::uint64_t from = first / per_element;
         from < last && (texts.empty() || length < texts_at_once_bytes);) {
      // Attributes are read whole each time.
      const bool is_known = is_fixed || !array.entry->attribute.empty();
      const std::uint64_t most = is_known ? room : std::min(room, array.texts_at_once);
      const std::uint64_t elements = std::min(most, last - from);
      const std::uint64_t before = length;
      for (std::string& text : texts_of_elements(array, from, elements, first, end)) {
        length += text.size();
        texts.push_back(std::move(text));
      }
      const bool is_long = length - before >= texts_at_once_bytes;
      array.texts_at_once = is_long ? 1 : std::min(most_unknown_texts, 2 * elements);
      from += elements;
    }
    return texts;
  }

  static bool has_fixed_length(hid_t type) {
    return H5Tis_variable_str(type) <= 0 && H5Tdetect_class(type, H5T_VLEN) <= 0;
  }

  /// Those of their values that have a flat index from `first` to before `end`.
  std::vector<std::string> texts_of_elements(Current& array,
                                             std::uint64_t from,
                                             std::uint64_t elements,
                                             std::uint64_t first,
                                             std::uint64_t end) {
    const std::uint64_t value_size = H5Tget_size(array.leaf.value.get());
    const std::uint64_t per_element = array.leaf.values_per_element();
    std::vector<std::byte> buffer(elements * H5Tget_size(array.leaf.memory.get()));
    const Reclaim reclaim(array.leaf.memory.get(), elements, buffer.data());
    read_elements(array, from, elements, buffer.data());
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < elements * per_element; ++i) {
      const std::uint64_t flat = from * per_element + i;
      if (flat < first || flat >= end) continue;
      std::string text =
          text_of(array.leaf.value.get(), buffer.data() + i * value_size, file_.get());
      if (text.size() > longest_text) text = base::sha256_of(text).text();
      texts.push_back(std::move(text));
    }
    return texts;
  }

  /// Gives back what HDF5 allocated for strings and sequences in a buffer.
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

  void read_elements(Current& array,
                     std::uint64_t first,
                     std::uint64_t count,
                     std::byte* out) const {
    if (!array.entry->attribute.empty()) return read_attribute(array, first, count, out);
    if (array.shape.empty()) {
      if (H5Dread(
              array.object.get(), array.leaf.memory.get(), H5S_ALL, H5S_ALL, array.transfer, out) <
          0) {
        throw_hdf5(at(*array.entry), "cannot read");
      }
      return;
    }
    read_range(array, first, count, out);
  }

  void read_attribute(const Current& array,
                      std::uint64_t first,
                      std::uint64_t count,
                      std::byte* out) const {
    const std::size_t size = H5Tget_size(array.leaf.memory.get());
    const auto elements =
        static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(array.space.get()));
    std::vector<std::byte> all(elements * size);
    if (H5Aread(array.object.get(), array.leaf.memory.get(), all.data()) < 0) {
      throw_hdf5(at(*array.entry), "cannot read");
    }
    std::memcpy(out, all.data() + first * size, count * size);
    const std::uint64_t end = first + count;
    const Reclaim before(array.leaf.memory.get(), first, all.data());
    const Reclaim behind(array.leaf.memory.get(), elements - end, all.data() + end * size);
  }

  /// A flat range of an n-dimensional array as few boxes: each step takes as many whole rows,
  /// planes ... as begin at the position and fit, so that there are at most 2n - 1 of them.
  void read_range(Current& array, std::uint64_t first, std::uint64_t count, std::byte* out) const {
    const std::size_t rank = array.shape.size();
    const std::size_t size = H5Tget_size(array.leaf.memory.get());
    std::array<hsize_t, H5S_MAX_RANK> start{};
    std::array<hsize_t, H5S_MAX_RANK> extent{};
    while (count > 0) {
      std::uint64_t rest = first;
      for (std::size_t i = rank; i-- > 0;) {
        start[i] = rest % array.shape[i];
        rest /= array.shape[i];
        extent[i] = 1;
      }
      std::size_t axis = rank - 1;
      std::uint64_t slice = 1;  // elements of one step along `axis`
      while (axis > 0 && start[axis] == 0 && count / slice >= array.shape[axis]) {
        extent[axis] = array.shape[axis];
        slice *= array.shape[axis];
        --axis;
      }
      extent[axis] = std::min<hsize_t>(count / slice, array.shape[axis] - start[axis]);
      const std::uint64_t taken = extent[axis] * slice;
      read_box(array, start.data(), extent.data(), out);
      first += taken;
      count -= taken;
      out += taken * size;
    }
  }

  // Of the file's rank in memory too: HDF5 walks through chunks element by element where the ranks
  // differ, which is several times slower.
  void read_box(Current& array, const hsize_t* start, const hsize_t* extent, std::byte* out) const {
    const H5Id memory(H5Screate_simple(static_cast<int>(array.shape.size()), extent, nullptr),
                      H5Sclose);
    if (H5Sselect_hyperslab(array.space.get(), H5S_SELECT_SET, start, nullptr, extent, nullptr) <
            0 ||
        H5Dread(array.object.get(),
                array.leaf.memory.get(),
                memory.get(),
                array.space.get(),
                array.transfer,
                out) < 0) {
      throw_hdf5(at(*array.entry), "cannot read");
    }
  }

  std::string place_;
  mutable FileBytes bytes_;
  H5Id file_;
  H5Id transfer_of_texts_{H5Pcreate(H5P_DATASET_XFER), H5Pclose};
  std::vector<Entry> entries_;
  std::optional<Current> current_{};
};

}  // namespace

std::unique_ptr<Hdf5Source> open_hdf5_source(const std::filesystem::path& path,
                                             const std::string& place) {
  const QuietErrors quiet;
  return std::make_unique<Hdf5File>(path, place);
}

std::unique_ptr<base::ArraySource> open_hdf5(const std::filesystem::path& path,
                                             const std::string& place) {
  return open_hdf5_source(path, place.empty() ? path.string() : place);
}

std::vector<base::OutsideValues> outside_values_of_hdf5(const std::filesystem::path& path,
                                                        const std::string& name) {
  const QuietErrors quiet;
  const std::string place = name.empty() ? path.string() : name;
  const H5Id file = open_file(path, place);
  std::vector<base::OutsideValues> outside;
  for (const Entry& entry : walk(file.get(), place)) {
    for (const std::string& other : entry.outside)
      outside.push_back({entry.info.path, other});
  }
  return outside;
}

}  // namespace sabath::arrays
