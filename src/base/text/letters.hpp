#pragma once

#include <cctype>

namespace sabath::base {

inline bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
inline bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}
inline bool is_lower(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}
inline bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

}  // namespace sabath::base
