#pragma once

#include "answer.hpp"

#include <string>
#include <string_view>

namespace sabath::fetch {

/// Returns "404 Not Found", or the number alone where the status has no common name.
std::string status_text(int status);

/// Returns the failure for a status other than 200 and 206. `body`: the beginning of the answer's
/// body, in which S3 names an error.
Failure status_failure(const Answer& answer, std::string_view body);

}  // namespace sabath::fetch
