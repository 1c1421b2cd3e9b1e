#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/home/program_bundle.hpp>

#include <link.h>

#include <string>
#include <string_view>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;

/// glibc, its loader and what it loads by itself; the kernel's page.
bool is_of_the_system(const std::string& name) {
  static const base::Form form(
      "(?s)(ld-linux|ld64\\.so|linux-vdso|linux-gate|libnss_|"
      "lib(c|m|mvec|dl|pthread|rt|resolv|util|anl)\\.so).*");
  return form.matches(name);
}

using Paths = std::vector<std::string>;

int add_loaded(dl_phdr_info* object, std::size_t, void* paths) noexcept {
  // Without memory for a list of names nothing else can continue either.
  const std::string_view path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  if (path.find('/') != std::string_view::npos) static_cast<Paths*>(paths)->emplace_back(path);
  return 0;
}

}  // namespace

std::vector<fs::path> program_bundle(const fs::path& program, const fs::path& folder) {
  Paths loaded;
  ::dl_iterate_phdr(add_loaded, &loaded);
  const fs::path libraries = folder / bundled_libraries;
  base::remove_tree(libraries);  // of a submission that was cut off
  base::make_directories(libraries);
  for (const fs::path path : loaded) {
    // Loaders look for a library by the name that it was found by here.
    const fs::path name = path.filename();
    if (is_of_the_system(name.string())) continue;
    std::error_code code;
    const fs::path real = fs::canonical(path, code);
    if (code == std::errc::no_such_file_or_directory) continue;  // replaced since, or of no file
    if (!code) fs::create_symlink(real, libraries / name, code);
    if (code && code != std::errc::file_exists)
      base::throw_errno((libraries / name).string(), "cannot be made", code.value());
  }
  return {program, libraries};
}

}  // namespace sabath::home
