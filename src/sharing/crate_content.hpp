#pragma once

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace sabath::sharing {

/// Everything that goes into a crate: texts that are made, and files of the run.
struct CrateContent {
  std::map<std::string, std::string> texts{};            ///< member -> text
  std::map<std::string, std::filesystem::path> files{};  ///< member -> file
};

/// The sum, or the largest number where it is larger.
constexpr std::uint64_t saturated_sum(std::uint64_t one, std::uint64_t other) {
  const std::uint64_t sum = one + other;
  return sum < one ? ~std::uint64_t{0} : sum;
}

/// Size of a file. Throws Error{storage} with its path.
std::uint64_t size_of_file(const std::filesystem::path& file);

/// Calls `work`. What the file system refuses becomes Error{storage} with the path.
template <class Work>
auto with_storage_errors(Work&& work) -> decltype(std::forward<Work>(work)()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::filesystem::filesystem_error& error) {
    throw base::Error(base::ErrorKind::storage,
                      base::printable(error.path1().string()) + ": " + error.code().message());
  }
}

}  // namespace sabath::sharing
