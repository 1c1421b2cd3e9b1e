#pragma once

#include "point_target.hpp"

#include <sabath/collect/collect.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sabath::collect {

struct SourceFile {
  std::filesystem::path path{};
  std::int32_t rank = 0;
  base::ReadLimits limits{};
};

/// Finds the files of a stage that a recipe's "file" names: "stdout", "stderr", or a path beneath
/// the outputs or the working folder. With '*', '?' or '[' it is a shell pattern that also matches
/// across folders; then each file, in the order of paths, is a separate rank. Empty: standard
/// output, then standard error.
std::vector<SourceFile> source_files(const StageFiles& files, const std::string& file);

/// Groups the wanted metrics by their file.
std::map<std::string, std::vector<const spec::MetricSpec*>> by_file(
    const std::vector<spec::MetricSpec>& wanted);

/// Reads one file for the metrics that come from it.
using ReadFile = std::function<void(
    const SourceFile&, const std::vector<const spec::MetricSpec*>&, const PointTarget&)>;
/// Calls `read` for each file of wanted metrics, and notes it as searched.
Extraction read_each(spec::SourceKind kind,
                     const StageFiles& files,
                     const std::vector<spec::MetricSpec>& wanted,
                     base::SeriesSink& sink,
                     const ReadFile& read);

}  // namespace sabath::collect
