#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace sabath::arrays {

/// Writes series.h5: /<stream>/<metric>/{rank,step,epoch,value,time_s}, chunked, flushed in blocks
/// so that memory stays small for ten million points; and `rest` where a number of the series is
/// a whole one that no double holds. The bits of every value are kept (NaN payloads too). Call
/// `close` to finish: the file appears under its name only then (temporary file in the same folder,
/// fsync, rename), and not at all when no point was added.
class SeriesWriter final : public base::SeriesSink {
 public:
  explicit SeriesWriter(std::filesystem::path path);
  ~SeriesWriter() override;
  SeriesWriter(const SeriesWriter&) = delete;
  SeriesWriter& operator=(const SeriesWriter&) = delete;
  base::SeriesId open(std::string_view stream, std::string_view metric) override;
  /// Throws Error{storage}; the first one too, when the file cannot be made.
  void add(base::SeriesId series, const base::SeriesPoint& point) override;
  void close();

 private:
  struct State;
  void require_open() const;
  std::unique_ptr<State> state_;  ///< nothing once it is closed
};

/// All series of a series.h5, sorted by stream and name. `rests`, if it is asked for, gets what
/// their whole numbers have beyond doubles. Throws Error{not_found|integrity}.
std::vector<spec::Series> read_series(const std::filesystem::path& path,
                                      spec::SeriesRests* rests = nullptr);

}  // namespace sabath::arrays
