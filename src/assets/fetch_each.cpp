#include "fetch_each.hpp"

#include "fetch_one.hpp"
#include "fetch_results.hpp"

#include <algorithm>

namespace sabath::assets {
namespace {

/// What is here goes into the results; the others' numbers are returned.
std::vector<std::size_t> look_for_known(const std::vector<spec::AssetFile>& files,
                                        FetchResults& results,
                                        const FetchTools& tools) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < files.size(); ++i) {
    try {
      auto current = find_current(files[i], tools);
      if (current) {
        results.files[i] = *std::move(current);
      } else {
        missing.push_back(i);
      }
    } catch (const base::Error& error) {
      results.fail(error);
    }
  }
  return missing;
}

/// Everything that is known to be needed, before the first byte. What a compressed archive grows to
/// is not known; it counts as large as it is.
void check_space(const std::vector<spec::AssetFile>& files,
                 const std::vector<std::size_t>& missing,
                 const FetchTools& tools) {
  std::uint64_t bytes = 0;
  for (const std::size_t i : missing) {
    const std::uint64_t size = files[i].size_bytes.value_or(0);
    const std::uint64_t there = size > 0 ? tools.cache.partial_bytes(staging_key(files[i])) : 0;
    bytes += size - std::min(size, there);
    if (!files[i].unpack.empty()) bytes += size;
  }
  // Each file is an object and has its place in the tree.
  tools.cache.check_space(bytes, 2 * missing.size());
}

}  // namespace

std::vector<FetchedFile> fetch_each(const std::string& name,
                                    const std::vector<spec::AssetFile>& files,
                                    const FetchTools& tools) {
  FetchResults results(files.size());
  const std::vector<std::size_t> missing = look_for_known(files, results, tools);
  if (!missing.empty()) check_space(files, missing, tools);
  for (const std::size_t i : missing) {
    try {
      results.files[i] = fetch_missing(files[i], tools);
    } catch (const base::Error& error) {
      results.fail(error);
    }
  }
  results.check(name);
  return std::move(results.files);
}

}  // namespace sabath::assets
