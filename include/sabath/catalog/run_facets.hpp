#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/catalog/catalog.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::catalog {

/// Which values runs have, and how many runs each. Throws Error{catalog|storage}.
class RunFacets {
 public:
  explicit RunFacets(const std::filesystem::path& database);
  ~RunFacets();
  RunFacets(const RunFacets&) = delete;
  RunFacets& operator=(const RunFacets&) = delete;

  /// The values of a key of selections among the runs of a selection, the most frequent first, at
  /// most so many. An empty selection means all runs. Throws Error{usage} for an unknown key, and
  /// as Catalog::runs.
  std::vector<std::pair<std::string, std::uint64_t>> counts(std::string_view selection,
                                                            std::string_view key,
                                                            std::size_t most,
                                                            base::WallTime now) const;
  /// The runs that had an asset as input, newest first, at most so many.
  std::vector<RunRow> runs_with_input(std::string_view asset, std::size_t most) const;

 private:
  std::unique_ptr<Database> database_;
};

}  // namespace sabath::catalog
