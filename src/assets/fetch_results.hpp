#pragma once

#include <sabath/assets/fetch_assets.hpp>
#include <sabath/base/error.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace sabath::assets {

/// What became of each of several files. One that cannot be had does not stop the others.
struct FetchResults {
  explicit FetchResults(std::size_t size) : files(size) {}

  /// To be called while `error` is handled: what would meet every other file, too, is thrown on.
  void fail(const base::Error& error);
  /// One error for all that failed, if any did: how many, and the first few by name.
  void check(const std::string& name) const;

  std::vector<FetchedFile> files{};
  std::vector<base::Error> failures{};
  std::vector<std::string> told{};      ///< of the failures: the first few
  std::set<std::string> unreachable{};  ///< hosts that one of `told` is about
  std::size_t repeated = 0;             ///< failures that say the same of these hosts
};

}  // namespace sabath::assets
