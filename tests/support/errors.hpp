#pragma once

#include <sabath/base/error.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>

namespace sabath::test {

/// Runs `call`, which must throw a base::Error, and returns that for a closer look.
template <class Call>
base::Error error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const base::Error& error) {
    return error;
  }
  FAIL("no error was thrown");
  return {base::ErrorKind::internal, "no error was thrown"};
}

/// Does `text` contain `part`?
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace sabath::test
