#pragma once

#include <sabath/base/process/command.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// This process's environment as a map.
Environment current_environment();

/// Returns the program's path as execvp would find it in `path_variable`, or nothing.
std::optional<std::filesystem::path> find_program(std::string_view name,
                                                  std::string_view path_variable);
/// The same with this process's PATH.
std::optional<std::filesystem::path> find_program(std::string_view name);

/// An argument vector as a command line for a POSIX shell, quoted where needed.
std::string quote_command(const std::vector<std::string>& argv);

/// The same for display: an argument with characters that a terminal must not receive is written as
/// $'...' (bash, POSIX 2024), so that the text is still the command.
std::string shown_command(const std::vector<std::string>& argv);

/// "SIGSEGV" for 11; "SIGRTMIN+3" for real-time ones; the number for others.
std::string signal_name(int signal);

}  // namespace sabath::base
