#pragma once

#include <sabath/collect/collect.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::collect {

struct SourceFile {
  std::filesystem::path path{};
  std::int32_t rank = 0;
};

/// The files of a stage that a recipe's "file" means: "stdout", "stderr", or a path beneath the
/// outputs or the folder that the stage ran in. With '*', '?' or '[' it is a pattern of the shell
/// that also matches across folders; then each file, in the order of paths, is a rank of its own.
/// Empty: standard output, then standard error.
std::vector<SourceFile> source_files(const StageFiles& files, const std::string& file);

/// The wanted metrics by the file that they are read from.
std::map<std::string, std::vector<const spec::MetricSpec*>> by_file(
    const std::vector<spec::MetricSpec>& wanted);

}  // namespace sabath::collect
