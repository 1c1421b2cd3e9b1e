#pragma once

#include <string>

namespace sabath::cli {

/// For CLI11's check(): why the word of an option is not what it must be; empty where it is.
std::string why_no_amount(const std::string& text);  ///< a finite number of zero or more
std::string why_no_count(const std::string& text);   ///< a whole number of one or more

}  // namespace sabath::cli
