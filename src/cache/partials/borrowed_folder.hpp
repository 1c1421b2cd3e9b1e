#pragma once

#include <sabath/base/beneath.hpp>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

// The folders of an attempt in which tools write files themselves.
namespace sabath::cache {

inline constexpr const char* borrowed_file_name = "data";

std::filesystem::path borrowed_folder(const std::filesystem::path& attempt,
                                      std::string_view borrower);
/// Returns the folders that are not empty.
std::vector<std::filesystem::path> borrowed_folders(const std::filesystem::path& attempt);
/// Says whether there are any, or the attempt's folder is unreadable.
bool may_have_borrowed_folders(const std::filesystem::path& attempt);
/// Moves the borrowers' folders from the attempt's folder `from` to `to`; those of `to` stay.
void move_borrowed_folders(const base::Beneath& beneath,
                           const std::filesystem::path& from,
                           const std::filesystem::path& to);
/// Bytes of the visible files beneath a folder.
std::uint64_t bytes_beneath(const std::filesystem::path& folder);

}  // namespace sabath::cache
