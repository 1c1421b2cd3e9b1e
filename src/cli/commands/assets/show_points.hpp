#pragma once

#include <filesystem>
#include <string>

namespace sabath::cli {

/// Answer of `show RUN --points METRIC`: all points of a metric, named STAGE/NAME, or NAME where
/// one stage has it. As JSON each column is an array, whole numbers have all digits, and other
/// numbers their bits. Throws Error{not_found} for another name, Error{integrity} for a damaged
/// file.
std::string points_answer(const std::filesystem::path& series_file,
                          const std::string& metric,
                          bool as_json);

}  // namespace sabath::cli
