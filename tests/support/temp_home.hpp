#pragma once

#include <sabath/base/file.hpp>

#include <filesystem>
#include <string>

namespace sabath::test {

/// A temporary folder of this test's own, removed at the end.
class TempHome {
 public:
  TempHome() : directory_(std::filesystem::temp_directory_path(), "sabath-test-") {}
  const std::filesystem::path& path() const { return directory_.path(); }
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }

 private:
  base::TempDir directory_;
};

}  // namespace sabath::test
