#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::probe {

/// Reads a small file of /proc, /sys or /etc, without white space at its end. Nothing where it
/// cannot be read: a missing fact is not an error. Reads in large pieces, because the kernel
/// renders such text anew for each.
std::optional<std::string> read_fact(const std::filesystem::path& path);

/// Reads the same as a number ("4096", "4096 kB"); nothing for other texts ("max").
std::optional<std::uint64_t> read_number(const std::filesystem::path& path);
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Reads a symbolic link, such as one of /proc; empty where it cannot be read.
std::string link_text(const std::filesystem::path& link);
/// Returns the sorted paths in a folder; none where it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Returns the value of the first line "key : value" of `text`, as in /proc/cpuinfo, /proc/meminfo
/// and /proc/PID/status; empty without one.
std::string_view find_field(std::string_view text, std::string_view key);

}  // namespace sabath::probe
