#pragma once

#include <filesystem>
#include <string>

namespace sabath::test {

/// The folder with the pinned `aws`, `moto_server` and `globus`
/// (tests/support/packages/python_tools.sh), made at the first call. Throws std::runtime_error with
/// what pip said when that fails.
std::filesystem::path python_tools();

/// PATH with that folder first, for as long as it lives.
class PythonToolsOnPath {
 public:
  PythonToolsOnPath();
  ~PythonToolsOnPath();
  PythonToolsOnPath(const PythonToolsOnPath&) = delete;
  PythonToolsOnPath& operator=(const PythonToolsOnPath&) = delete;

 private:
  std::string old_;
};

}  // namespace sabath::test
