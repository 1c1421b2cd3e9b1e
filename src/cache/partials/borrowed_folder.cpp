#include "borrowed_folder.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <string>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view borrowed_prefix = "borrowed.";

}  // namespace

fs::path borrowed_folder(const fs::path& attempt, std::string_view borrower) {
  const std::string name =
      base::is_safe_name(borrower) ? std::string(borrower) : base::sha256_of(borrower).hex;
  return attempt / (std::string(borrowed_prefix) + name);
}

std::vector<fs::path> borrowed_folders(const fs::path& attempt) {
  std::vector<fs::path> folders;
  std::error_code code;
  for (fs::directory_iterator it(attempt, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (it->path().filename().string().starts_with(borrowed_prefix) && it->is_directory(ignored) &&
        !fs::is_empty(it->path(), ignored)) {
      folders.push_back(it->path());
    }
  }
  return folders;
}

bool may_have_borrowed_folders(const fs::path& attempt) {
  if (!borrowed_folders(attempt).empty()) return true;
  std::error_code code;
  const fs::directory_iterator readable(attempt, code);
  return static_cast<bool>(code);
}

void move_borrowed_folders(const base::Beneath& beneath, const fs::path& from, const fs::path& to) {
  for (const fs::path& folder : borrowed_folders(from)) {
    // Fails where the same borrower has a folder there; that one stays.
    beneath.rename(folder, to / folder.filename());
  }
}

std::uint64_t bytes_beneath(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code)) {
    std::error_code ignored;
    if (fs::is_regular_file(it->symlink_status(ignored))) bytes += it->file_size(ignored);
  }
  return bytes;
}

}  // namespace sabath::cache
