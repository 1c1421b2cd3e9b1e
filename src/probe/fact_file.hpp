#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::probe {

/// The content of a small file of /proc, /sys or /etc without white space at its end; nothing when
/// it cannot be read, for whatever reason: a fact that is not there is no error. Read in large
/// pieces, because the kernel makes such text anew for each.
std::optional<std::string> read_fact(const std::filesystem::path& path);

/// The same as a number ("4096", "4096 kB"); nothing when it does not begin with one ("max").
std::optional<std::uint64_t> read_number(const std::filesystem::path& path);
std::optional<std::uint64_t> parse_number(std::string_view text);

/// The value of the first line "key : value" of `text`, as in /proc/cpuinfo, /proc/meminfo and
/// /proc/PID/status; empty when there is none.
std::string_view find_field(std::string_view text, std::string_view key);

std::string_view trimmed(std::string_view text);

}  // namespace sabath::probe
