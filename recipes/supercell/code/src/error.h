#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace supercell {

// The command cannot go on: what is wrong (place, problem, cause) and, apart, what would help.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = {});
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

// The command line itself is wrong.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Runs `body` and turns what it throws into a message on stderr and an exit status: 2 for a
// UsageError, 1 for everything else.
int guarded_main(const char* program, const std::function<int()>& body) noexcept;

}  // namespace supercell
