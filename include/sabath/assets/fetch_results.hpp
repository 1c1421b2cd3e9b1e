#pragma once

#include <sabath/assets/fetched_asset.hpp>
#include <sabath/base/error.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace sabath::assets {

/// Says whether this error also affects all other files.
bool ends_everything(base::ErrorKind kind);
/// Returns the kind of several failures: integrity where one has it, else the kind of all, else
/// transfer.
base::ErrorKind kind_of_all(const std::vector<base::Error>& failures);

/// The results of several files. A failed file does not stop the others.
struct FetchResults {
  explicit FetchResults(std::size_t size) : files(size) {}

  /// Notes a failure. Called in its catch block: rethrows an error that affects all other files.
  void fail(const base::Error& error);
  /// Throws one error for all failures, with their number and the first few by name.
  void check(const std::string& name) const;

  std::vector<FetchedFile> files{};
  std::vector<base::Error> failures{};
  std::vector<std::string> shown{};     ///< messages of the first few failures
  std::set<std::string> unreachable{};  ///< hosts in `shown`
  std::size_t repeated = 0;             ///< further failures of these hosts
};

}  // namespace sabath::assets
