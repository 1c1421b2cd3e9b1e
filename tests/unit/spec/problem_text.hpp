#pragma once

#include <sabath/base/error.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace sabath::test {

/// What a reader that must refuse says: the message, and the hint after "hint: ".
struct Problem {
  base::ErrorKind kind = base::ErrorKind::internal;
  std::string text{};
  std::string hint{};

  bool says(const std::string& part) const { return text.find(part) != std::string::npos; }
  std::ptrdiff_t lines() const { return std::count(text.begin(), text.end(), '\n') + 1; }
};

template <class Action>
Problem problem_of(Action action) {
  try {
    action();
  } catch (const base::Error& error) {
    return {error.kind(), error.what(), error.hint()};
  }
  throw std::logic_error("there was no problem");
}

}  // namespace sabath::test
