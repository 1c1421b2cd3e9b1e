#pragma once

#include <sabath/base/beneath.hpp>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

// The folders of an attempt in which tools write by themselves.
namespace sabath::cache {

inline constexpr const char* lent_file_name = "data";

/// The borrower's folder in an attempt's folder.
std::filesystem::path lent_folder(const std::filesystem::path& attempt, std::string_view borrower);
/// All that are not empty.
std::vector<std::filesystem::path> lent_folders(const std::filesystem::path& attempt);
/// Also where the attempt's folder cannot be read.
bool may_have_lent_folders(const std::filesystem::path& attempt);
/// Moves what borrowers left in the attempt's folder `from` to `to`, where they have left nothing
/// there.
void move_lent_folders(const base::Beneath& beneath,
                       const std::filesystem::path& from,
                       const std::filesystem::path& to);
/// Bytes of the files beneath a folder, as far as they can be seen.
std::uint64_t bytes_beneath(const std::filesystem::path& folder);

}  // namespace sabath::cache
