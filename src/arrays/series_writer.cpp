#include "hdf5/h5_error.hpp"
#include "series_path.hpp"

#include <sabath/arrays/series_file.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/unique_fd.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::arrays {
namespace {

constexpr std::size_t block_points = 65'536;       ///< a long series is written in such chunks
constexpr std::size_t short_chunk_points = 4'096;  ///< of one that had to be written early
constexpr std::size_t buffered_points_limit = 1U << 18U;  ///< over all series; about 10 MiB

using Name = std::pair<std::string, std::string>;

/// Order of (stream, metric) that also takes views: a lookup does not allocate.
struct NameOrder {
  using is_transparent = void;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    const int streams = std::string_view(a.first).compare(std::string_view(b.first));
    return streams != 0 ? streams < 0 : std::string_view(a.second) < std::string_view(b.second);
  }
};

/// Unwritten points of one series, and the data sets of its columns.
struct Buffer {
  spec::Series points{};
  std::array<H5Id, 5> columns{};
  std::vector<double> rests{};  ///< of the points; empty until a number has one
  bool has_rest = false;
  H5Id rest{};  ///< their data set
  hsize_t written = 0;
  base::SeriesId id{};
};

struct Column {
  const char* name;
  hid_t file_type;
  hid_t memory_type;
  const void* data;
};

std::array<Column, 5> columns_of(const spec::Series& s) {
  return {{{"rank", H5T_STD_I32LE, H5T_NATIVE_INT32, s.rank.data()},
           {"step", H5T_STD_I64LE, H5T_NATIVE_INT64, s.step.data()},
           {"epoch", H5T_STD_I64LE, H5T_NATIVE_INT64, s.epoch.data()},
           {"value", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, s.value.data()},
           {"time_s", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, s.time_s.data()}}};
}

void clear(spec::Series& series) {
  series.rank.clear();
  series.step.clear();
  series.epoch.clear();
  series.value.clear();
  series.time_s.clear();
}

}  // namespace

struct SeriesWriter::State {
  std::filesystem::path path;
  /// In the folder of `path`, for the rename; made at the first point.
  std::optional<base::TempDir> folder{};
  std::filesystem::path temporary{};
  H5Id file{};
  std::map<Name, Buffer, NameOrder> series{};
  std::vector<Buffer*> by_id{};  ///< into `series`
  std::size_t buffered = 0;

  explicit State(std::filesystem::path target) : path(std::move(target)) {}

  void create() {
    folder.emplace(path.has_parent_path() ? path.parent_path() : ".", ".series-");
    temporary = folder->path() / "series.h5";
    file = own(H5Fcreate(temporary.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const H5Id scalar = own(H5Screate(H5S_SCALAR), H5Sclose);
    const H5Id schema =
        own(H5Acreate2(file.get(), "schema", H5T_STD_I32LE, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
            H5Aclose);
    const std::int32_t version = 1;
    require(H5Awrite(schema.get(), H5T_NATIVE_INT32, &version) >= 0);
  }

  void require(bool worked) const {
    if (!worked) throw_hdf5(path.string(), "cannot write", base::ErrorKind::storage);
  }

  H5Id own(hid_t id, H5Id::Close close) const {
    return checked(id, close, path.string(), "cannot write", base::ErrorKind::storage);
  }

  base::SeriesId id_of(std::string_view stream, std::string_view metric) {
    const auto found = series.find(std::pair(stream, metric));
    if (found != series.end()) return found->second.id;
    Buffer& buffer = series[Name(stream, metric)];
    buffer.points.stream = stream;
    buffer.points.name = metric;
    buffer.id = static_cast<base::SeriesId>(by_id.size());
    by_id.push_back(&buffer);
    return buffer.id;
  }

  static std::string group_path(const Buffer& buffer) {
    return "/" + link_name(buffer.points.stream) + "/" + link_name(buffer.points.name);
  }

  /// A column that grows in chunks, or (`chunk` 0) has a fixed length.
  H5Id make_column(
      hid_t group, const char* name, hid_t file_type, hsize_t length, hsize_t chunk) const {
    const H5Id plan = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const H5Id access = own(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    require(H5Pset_obj_track_times(plan.get(), false) >= 0);  // equal series, equal bytes
    if (chunk > 0) length = 0;
    const hsize_t limit = chunk > 0 ? H5S_UNLIMITED : length;
    if (chunk > 0) {
      require(H5Pset_chunk(plan.get(), 1, &chunk) >= 0);
      // Blocks are chunks: a cache would only hold memory, once for every column of every series.
      require(H5Pset_chunk_cache(access.get(), 0, 0, 1.0) >= 0);
    }
    const H5Id space = own(H5Screate_simple(1, &length, &limit), H5Sclose);
    return own(
        H5Dcreate2(group, name, file_type, space.get(), H5P_DEFAULT, plan.get(), access.get()),
        H5Dclose);
  }

  void make_columns(Buffer& buffer, hsize_t chunk) const {
    const H5Id links = own(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    require(H5Pset_create_intermediate_group(links.get(), 1) >= 0);
    const H5Id group = own(
        H5Gcreate2(file.get(), group_path(buffer).c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT),
        H5Gclose);
    const auto columns = columns_of(buffer.points);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      buffer.columns[i] = make_column(
          group.get(), columns[i].name, columns[i].file_type, buffer.points.size(), chunk);
    }
  }

  /// Adds the column to a series; earlier points have 0.
  void make_rest(Buffer& buffer, hsize_t chunk) const {
    const H5Id group = own(H5Gopen2(file.get(), group_path(buffer).c_str(), H5P_DEFAULT), H5Gclose);
    const bool is_begun = buffer.written > 0;
    buffer.rest = make_column(group.get(),
                              "rest",
                              H5T_IEEE_F64LE,
                              buffer.points.size(),
                              is_begun && chunk == 0 ? short_chunk_points : chunk);
    const std::vector<double> none(is_begun ? block_points : 0);
    for (hsize_t at = 0; at < buffer.written;) {
      const hsize_t count = std::min<hsize_t>(none.size(), buffer.written - at);
      write(buffer.rest.get(), H5T_NATIVE_DOUBLE, none.data(), at, count, true);
      at += count;
    }
  }

  void write(hid_t dataset,
             hid_t memory_type,
             const void* data,
             hsize_t first,
             hsize_t count,
             bool grows) const {
    const hsize_t total = first + count;
    const H5Id memory = own(H5Screate_simple(1, &count, nullptr), H5Sclose);
    // Set to what it is already in a data set of fixed length, which HDF5 would refuse.
    if (grows) require(H5Dset_extent(dataset, &total) >= 0);
    const H5Id space = own(H5Dget_space(dataset), H5Sclose);
    require(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr) >=
            0);
    require(H5Dwrite(dataset, memory_type, memory.get(), space.get(), H5P_DEFAULT, data) >= 0);
  }

  void flush(Buffer& buffer, hsize_t chunk) {
    const hsize_t count = buffer.points.size();
    if (count == 0) return;
    if (!buffer.columns[0]) make_columns(buffer, chunk);
    if (buffer.has_rest && !buffer.rest) make_rest(buffer, chunk);
    const bool grows = buffer.written > 0 || chunk > 0;
    const auto columns = columns_of(buffer.points);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      write(buffer.columns[i].get(),
            columns[i].memory_type,
            columns[i].data,
            buffer.written,
            count,
            grows);
    }
    if (buffer.has_rest) {
      write(
          buffer.rest.get(), H5T_NATIVE_DOUBLE, buffer.rests.data(), buffer.written, count, grows);
    }
    buffer.written += count;
    buffered -= count;
    clear(buffer.points);
    buffer.rests.clear();
  }

  void flush_all(hsize_t chunk) {
    for (auto& [name, buffer] : series)
      flush(buffer, chunk);
  }

  void publish() {
    flush_all(0);
    series.clear();
    require(file.close());
    const base::UniqueFd fd(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd || ::fsync(fd.get()) != 0) base::throw_errno(path.string(), "cannot write", errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      base::throw_errno(path.string(), "cannot write", errno);
    }
    base::sync_directory(path.has_parent_path() ? path.parent_path() : ".");
  }
};

SeriesWriter::SeriesWriter(std::filesystem::path path)
    : state_(std::make_unique<State>(std::move(path))) {}

SeriesWriter::~SeriesWriter() {
  const QuietErrors quiet;
  state_.reset();
}

base::SeriesId SeriesWriter::open(std::string_view stream, std::string_view metric) {
  require_open();
  return state_->id_of(stream, metric);
}

void SeriesWriter::add(base::SeriesId series, const base::SeriesPoint& point) {
  require_open();
  if (!state_->folder) {
    const QuietErrors quiet;
    state_->create();
  }
  Buffer& buffer = *state_->by_id[static_cast<std::size_t>(series)];
  buffer.points.rank.push_back(point.rank);
  buffer.points.step.push_back(point.step);
  buffer.points.epoch.push_back(point.epoch);
  buffer.points.value.push_back(point.value);
  buffer.points.time_s.push_back(point.time_s);
  if (point.rest != 0 && !buffer.has_rest) {
    buffer.has_rest = true;
    buffer.rests.resize(buffer.points.size() - 1);
  }
  if (buffer.has_rest) buffer.rests.push_back(point.rest);
  ++state_->buffered;
  if (buffer.points.size() < block_points && state_->buffered < buffered_points_limit) return;
  const QuietErrors quiet;
  if (buffer.points.size() >= block_points) return state_->flush(buffer, block_points);
  state_->flush_all(short_chunk_points);
}

void SeriesWriter::require_open() const {
  if (!state_) throw base::Error(base::ErrorKind::internal, "series: cannot add: it is closed");
}

void SeriesWriter::close() {
  if (!state_) return;
  const QuietErrors quiet;
  if (state_->folder) state_->publish();
  state_.reset();
}

}  // namespace sabath::arrays
