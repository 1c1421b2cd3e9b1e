#pragma once

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace sabath::base {

/// The value a document holds and the problems found while it is read; readers point into both.
struct JsonDocument::State {
  explicit State(const std::string& origin) : problems(origin) {}
  nlohmann::json value;
  JsonProblems problems;
};

}  // namespace sabath::base
