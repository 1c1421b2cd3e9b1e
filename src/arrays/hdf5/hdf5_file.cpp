#include "hdf5_file.hpp"

#include "file_bytes.hpp"
#include "h5_array.hpp"
#include "h5_error.hpp"
#include "h5_extent.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace sabath::arrays {
namespace {

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
    H5Array& opened = current(entry);
    if (opened.offset()) return bytes_.read(*opened.offset() + first * size, out);
    opened.read(first, count, out);
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
    return count == 0 ? std::vector<std::string>{} : current(entry).texts(first, count);
  }

  std::uint64_t unwritten(const base::ArrayInfo& array, std::uint64_t first) override {
    const QuietErrors quiet;
    const Entry& entry = find(array);
    if (!entry.link.empty() || !entry.attribute.empty() || first >= entry.info.elements()) return 0;
    return current(entry).unwritten(first);
  }

  std::optional<std::uint64_t> offset_in_file(const base::ArrayInfo& array) override {
    const QuietErrors quiet;
    const Entry& entry = find(array);
    return entry.link.empty() ? current(entry).offset() : std::nullopt;
  }

 private:
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

  /// MATLAB's user block begins with the date of the file.
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
    return std::ranges::lower_bound(
        entries_, key_of(array), {}, [](const Entry& entry) { return key_of(entry.info); });
  }

  const Entry& find(const base::ArrayInfo& array) const {
    const auto found = first_from(array);
    if (found == entries_.end() || found->info != array) {
      throw base::Error(base::ErrorKind::internal,
                        place_ + ":/" + array.path + ": cannot read: no such array");
    }
    return *found;
  }

  H5Array& current(const Entry& entry) {
    if (!current_ || &current_->entry() != &entry) {
      current_.reset();
      current_.emplace(file_.get(), bytes_.size(), entry, at(entry));
    }
    return *current_;
  }

  std::string place_;
  mutable FileBytes bytes_;
  H5Id file_;
  std::vector<Entry> entries_;
  std::optional<H5Array> current_{};  ///< that was read last, with its cache of chunks
};

}  // namespace

std::unique_ptr<Hdf5Source> open_hdf5(const std::filesystem::path& path, const std::string& place) {
  const QuietErrors quiet;
  return std::make_unique<Hdf5File>(path, place.empty() ? path.string() : place);
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
