#pragma once

#include "source_files.hpp"

#include <sabath/collect/collect.hpp>

#include <vector>

namespace sabath::collect {

/// Passes every point of the `wanted` metrics, all of the target's kind and of this stage, to
/// `target`.
using Extract = void(const StageFiles& files,
                     const std::vector<spec::MetricSpec>& wanted,
                     const PointTarget& target);

/// JSON lines in metrics-<rank>.jsonl, one file a rank, and in files of the code's own.
Extract extract_jsonl;
/// Regular expressions, or key-value pairs.
Extract extract_text;
/// Tables with a header, as Keras's CSVLogger writes them.
Extract extract_csv;
/// ":::MLLOG" lines of MLPerf: values, lengths of intervals, parameters, seeds.
Extract extract_mllog;
/// Scalars of TensorBoard's event files.
Extract extract_tensorboard;

}  // namespace sabath::collect
