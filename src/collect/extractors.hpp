#pragma once

#include "source_files.hpp"

#include <sabath/collect/collect.hpp>

#include <memory>
#include <vector>

namespace sabath::collect {

/// Reader of the metrics that one stage leaves in files of one kind.
class Extractor {
 public:
  virtual ~Extractor() = default;
  /// Passes every point to `target`. With the target's positions it passes those that are new
  /// since the last call; the target is the same in each call.
  virtual void read(const PointTarget& target) = 0;
};

/// Makes a reader of the `wanted` metrics, all of one kind and of this stage. `files` must outlive
/// it.
using MakeExtractor = std::unique_ptr<Extractor>(const StageFiles& files,
                                                 std::vector<spec::MetricSpec> wanted);

/// JSON lines in metrics-<rank>.jsonl, one file a rank, and in files of the code's own.
MakeExtractor jsonl_extractor;
/// Regular expressions, or key-value pairs.
MakeExtractor text_extractor;
/// Tables with a header, as Keras's CSVLogger writes them.
MakeExtractor csv_extractor;
/// ":::MLLOG" lines of MLPerf: values, lengths of intervals, parameters, seeds.
MakeExtractor mllog_extractor;
/// Scalars of TensorBoard's event files.
MakeExtractor tensorboard_extractor;

}  // namespace sabath::collect
