#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace sabath::test {

/// Environment variables for as long as it lives; an empty value removes one.
class Variables {
 public:
  // NOLINTBEGIN(concurrency-mt-unsafe): the tests of one executable run one after the other
  explicit Variables(const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) {
      const char* const old = std::getenv(name.c_str());
      old_[name] = old == nullptr ? std::nullopt : std::optional<std::string>(old);
      set(name, value.empty() ? std::nullopt : std::optional(value));
    }
  }
  ~Variables() {
    for (const auto& [name, value] : old_)
      set(name, value);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  static void set(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
  // NOLINTEND(concurrency-mt-unsafe)
  std::map<std::string, std::optional<std::string>> old_{};
};

}  // namespace sabath::test
