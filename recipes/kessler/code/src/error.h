#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace kessler {

// An error that ends the command: place, problem and cause, and a hint.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = {});
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

// An error in the command line.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Runs `body`. An exception becomes a message on stderr and an exit status: 2 for a UsageError, 1
// for others.
int guarded_main(const char* program, const std::function<int()>& body) noexcept;

}  // namespace kessler
