#pragma once

#include "support/program.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace sabath::test {

/// What a command answers that must end with 0.
Answer done(const Sabath& sabath, const std::vector<std::string>& words);
/// What a command answers with `--json`, which must be a document, and its exit status as "status".
nlohmann::json answered(const Sabath& sabath, std::vector<std::string> words);

}  // namespace sabath::test
