#pragma once

#include <sabath/base/error.hpp>

#include <filesystem>
#include <string>

namespace sabath::base {

/// Why `name` is on no folder of `path_variable`.
Error not_on_path(const std::string& name, const std::string& path_variable);

/// Why execve of `program` failed with errno `code`: the file, its rights, its interpreter.
Error exec_failed(const std::string& name, const std::filesystem::path& program, int code);

}  // namespace sabath::base
