#pragma once

#include "answer.hpp"

#include <string>
#include <string_view>

namespace sabath::fetch {

/// "404 Not Found"; the number alone where it has no common name.
std::string status_text(int status);

/// What a status other than 200 and 206 means; `body` is the beginning of its body, in which S3
/// says more.
Failure status_failure(const Answer& answer, std::string_view body);

}  // namespace sabath::fetch
