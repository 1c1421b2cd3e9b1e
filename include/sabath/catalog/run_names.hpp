#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::catalog {

/// The names that the runs of a catalog have, read from its file. Throws Error{catalog|storage}.
class RunNames {
 public:
  explicit RunNames(const std::filesystem::path& database);
  ~RunNames();
  RunNames(const RunNames&) = delete;
  RunNames& operator=(const RunNames&) = delete;

  bool has_run() const;
  bool has_parameter(std::string_view name) const;
  std::vector<std::string> recipes() const;
  std::vector<std::string> studies() const;
  /// With the columns of imported tables.
  std::vector<std::string> parameters() const;
  /// Each as NAME and as STAGE/NAME.
  std::vector<std::string> metrics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::catalog
