#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace sabath::arrays {

/// Writes series.h5: /<stream>/<metric>/{rank,step,epoch,value,time_s}, and `rest` where a whole
/// number of the series does not fit a double. Blocks are flushed, so that memory stays small for
/// ten million points. Keeps the bits of every value (NaN payloads too). Call `close` to finish:
/// only then the file appears under its name (temporary file in the same folder, fsync, rename). No
/// file appears without points.
class SeriesWriter final : public base::SeriesSink {
 public:
  explicit SeriesWriter(std::filesystem::path path);
  ~SeriesWriter() override;
  SeriesWriter(const SeriesWriter&) = delete;
  SeriesWriter& operator=(const SeriesWriter&) = delete;
  base::SeriesId open(std::string_view stream, std::string_view metric) override;
  /// Throws Error{storage}. The first call throws too where the file cannot be made.
  void add(base::SeriesId series, const base::SeriesPoint& point) override;
  void close();

 private:
  struct State;
  void require_open() const;
  std::unique_ptr<State> state_;  ///< null after `close`
};

/// Reads all series of a series.h5, sorted by stream and name. `rests`, unless null, receives what
/// whole numbers have beyond doubles. Throws Error{not_found|integrity}.
std::vector<spec::Series> read_series(const std::filesystem::path& path,
                                      spec::SeriesRests* rests = nullptr);

}  // namespace sabath::arrays
