#pragma once

#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::probe {

/// "python", "python3", "python3.11".
bool is_python(std::string_view program_name);

/// Version by name (as PyPI writes names) of the packages that a Python would import: of the
/// folders in which it looks with this environment (PYTHONPATH, those of its virtual environment,
/// user, distribution), the first that has a package's metadata counts. " (editable)" stands behind
/// the version of one that is imported from somebody's sources. Nothing is executed, and modules
/// without metadata are not seen. Nothing where nobody can say in which folders it looks. What
/// PYTHONPATH names otherwise than by an absolute path is left out.
///
/// `interpreter` is the path by which it is called: of a link in a virtual environment that counts,
/// not what the link leads to.
/// Source: site.py of Python 3.11 and Debian's; PEP 376, PEP 405, PEP 610.
std::optional<std::map<std::string, std::string>> python_packages(
    const std::filesystem::path& interpreter, const base::Environment& environment);

}  // namespace sabath::probe
