#pragma once

#include <sabath/spec/comparison.hpp>

#include <string>

namespace sabath::report {

/// The comparison of two files, which have neither facets nor performance; as in text.hpp.
std::string files_text(const spec::Comparison& comparison);

}  // namespace sabath::report
