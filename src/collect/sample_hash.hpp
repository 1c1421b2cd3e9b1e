#pragma once

#include "metric_line.hpp"

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace sabath::collect {

/// The digest of the order in which samples were taken (docs/commands/run.md): SHA-256 of one line
/// for each id, with "epoch E" before the first of each epoch that is told, and "order TEXT" for
/// what the code has digested itself.
class SampleHash {
 public:
  void add(const MetricLine& line);
  /// Nothing where no line told an order. A single text of the code's own is the answer as it is.
  std::optional<std::string> finish();

 private:
  base::Hasher hasher_{};
  std::optional<std::int64_t> epoch_{};
  std::string only_{};
  bool has_ids_ = false;
  std::uint64_t orders_ = 0;
};

}  // namespace sabath::collect
