#pragma once

#include <sabath/collect/collect.hpp>

#include <memory>

namespace sabath::collect {

/// JSON lines in metrics-<rank>.jsonl, one file a rank.
std::unique_ptr<Extractor> make_jsonl_extractor();
/// Regular expressions, or key-value pairs.
std::unique_ptr<Extractor> make_text_extractor(spec::SourceKind kind);
/// Tables with a header, as Keras's CSVLogger writes them.
std::unique_ptr<Extractor> make_csv_extractor();
/// ":::MLLOG" lines of MLPerf.
std::unique_ptr<Extractor> make_mllog_extractor();
/// Scalars of TensorBoard's event files.
std::unique_ptr<Extractor> make_tensorboard_extractor();

}  // namespace sabath::collect
