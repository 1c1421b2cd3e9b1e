#pragma once

#include <cstdio>
#include <functional>
#include <string>

// Checks of the tests. A failed check is counted, and the test continues.
namespace check {

inline int failures = 0;

inline void that(bool holds, const char* text, const char* file, int line) {
  if (holds) return;
  ++failures;
  std::printf("%s:%d: failed: %s\n", file, line, text);
}

// Text of the exception that `work` throws, with its hint where it has one; empty if none.
std::string failure_of(const std::function<void()>& work);

inline void fails(const std::function<void()>& work,
                  const std::string& expected,
                  const char* file,
                  int line) {
  const std::string found = failure_of(work);
  if (found.find(expected) != std::string::npos) return;
  ++failures;
  std::printf(
      "%s:%d: failed: expected '%s', found '%s'\n", file, line, expected.c_str(), found.c_str());
}

}  // namespace check

#define CHECK(condition) check::that(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define CHECK_FAILS(work, expected) check::fails([&] { work; }, expected, __FILE__, __LINE__)

// Tests of files, in file_test.cpp. `data` is the folder tests/data.
void test_files(const std::string& data);
