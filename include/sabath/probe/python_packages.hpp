#pragma once

#include <sabath/base/process/process.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::probe {

/// Returns true for "python", "python3", "python3.11".
bool is_python(std::string_view program_name);

/// Returns name (as on PyPI) -> version of the packages that a Python would import. Searches the
/// folders of PYTHONPATH, of the virtual environment, of the user and of the distribution; the
/// first metadata of a package counts. Adds " (editable)" to the version of a package imported from
/// sources. Executes nothing and does not see modules without metadata. Leaves out relative folders
/// of PYTHONPATH. Returns nothing where the folders are unknown.
///
/// `interpreter` is the path by which Python is called: a link in a virtual environment is not
/// resolved.
/// Source: site.py of Python 3.11 and Debian's; PEP 376, PEP 405, PEP 610.
std::optional<std::map<std::string, std::string>> python_packages(
    const std::filesystem::path& interpreter, const base::Environment& environment);

}  // namespace sabath::probe
