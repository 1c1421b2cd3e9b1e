#include "reader/reader_client.hpp"
#include "series_path.hpp"

#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

namespace sabath::arrays {
namespace {

class SeriesReader {
 public:
  SeriesReader(const std::filesystem::path& path, spec::SeriesRests* rests)
      : place_(path.string()), rests_(rests), source_(open_hdf5_apart(path)) {
    std::error_code code;
    size_bytes_ = std::filesystem::file_size(path, code);
    for (base::ArrayInfo& info : source_->list())
      arrays_.emplace(info.path, std::move(info));
  }

  std::vector<spec::Series> all() {
    require_schema();
    std::vector<spec::Series> all;
    constexpr std::string_view last = "/value";
    for (const auto& [path, info] : arrays_) {
      if (info.is_attribute) continue;
      const std::size_t split = path.find('/');
      const std::size_t end = path.rfind('/');
      if (split == std::string::npos || split == end) fail(path, "it is not part of a series");
      if (!path.ends_with(last)) continue;
      all.push_back(read(path.substr(0, end), split));
    }
    std::ranges::sort(all, {}, [](const spec::Series& s) { return std::tie(s.stream, s.name); });
    return all;
  }

 private:
  [[noreturn]] void fail(const std::string& path, const std::string& cause) const {
    throw base::Error(base::ErrorKind::integrity,
                      place_ + ":/" + path + ": cannot read the series: " + cause);
  }

  void require_schema() {
    std::vector<std::int32_t> schema;
    const auto found = arrays_.find("@schema");
    if (found == arrays_.end() || !found->second.shape.empty()) {
      fail("", "it has no attribute 'schema' and was not written as a series file");
    }
    read_column("@schema", base::ArrayType::int32, schema);
    if (schema.front() != 1) {
      fail("", "schema " + std::to_string(schema.front()) + " is of another version");
    }
  }

  spec::Series read(const std::string& group, std::size_t split) {
    const auto stream = name_of_link(std::string_view(group).substr(0, split));
    const auto name = name_of_link(std::string_view(group).substr(split + 1));
    if (!stream || !name) fail(group, "its name is malformed");
    spec::Series series;
    series.stream = *stream;
    series.name = *name;
    read_column(group + "/rank", base::ArrayType::int32, series.rank);
    read_column(group + "/step", base::ArrayType::int64, series.step);
    read_column(group + "/epoch", base::ArrayType::int64, series.epoch);
    read_column(group + "/value", base::ArrayType::float64, series.value);
    read_column(group + "/time_s", base::ArrayType::float64, series.time_s);
    for (const std::size_t length :
         {series.rank.size(), series.step.size(), series.epoch.size(), series.time_s.size()}) {
      if (length != series.size()) fail(group, "its columns differ in length");
    }
    if (rests_ != nullptr && arrays_.contains(group + "/rest")) {
      std::vector<double>& rest = (*rests_)[series.stream + "/" + series.name];
      read_column(group + "/rest", base::ArrayType::float64, rest);
      if (rest.size() != series.size()) fail(group, "its columns differ in length");
      const auto is_whole = [](double one) { return std::isfinite(one) && std::trunc(one) == one; };
      if (!std::ranges::all_of(rest, is_whole)) fail(group, "a rest is not a whole number");
    }
    return series;
  }

  template <class T>
  void read_column(const std::string& path, base::ArrayType type, std::vector<T>& out) {
    const auto found = arrays_.find(path);
    if (found == arrays_.end()) fail(path, "the column is missing");
    if (found->second.type != type || found->second.shape.size() > 1) {
      fail(path, "the column has a wrong type");
    }
    // A file of a kilobyte can say that it has 2^50 values. Packed ones take a thousandth at least.
    constexpr std::uint64_t values_per_byte = 1100 / sizeof(T);
    if (found->second.elements() / values_per_byte > size_bytes_)
      fail(path, "the column has more values than the file has room for");
    out.resize(found->second.elements());
    source_->read(found->second, 0, out.size(), std::as_writable_bytes(std::span(out)));
  }

  std::string place_;
  spec::SeriesRests* rests_;
  std::uint64_t size_bytes_ = 0;
  std::unique_ptr<base::ArraySource> source_;
  std::map<std::string, base::ArrayInfo> arrays_{};
};

}  // namespace

std::vector<spec::Series> read_series(const std::filesystem::path& path, spec::SeriesRests* rests) {
  return SeriesReader(path, rests).all();
}

}  // namespace sabath::arrays
