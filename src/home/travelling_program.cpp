#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/home/travelling_program.hpp>

#include <link.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;

/// glibc, its loader and what it loads by itself; the kernel's page.
bool is_of_the_system(std::string_view name) {
  constexpr std::array<std::string_view, 14> beginnings{"ld-linux",
                                                        "ld64.so",
                                                        "linux-vdso",
                                                        "linux-gate",
                                                        "libc.so",
                                                        "libm.so",
                                                        "libmvec.so",
                                                        "libdl.so",
                                                        "libpthread.so",
                                                        "librt.so",
                                                        "libresolv.so",
                                                        "libutil.so",
                                                        "libanl.so",
                                                        "libnss_"};
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) {
    return name.starts_with(beginning);
  });
}

using Paths = std::vector<std::string>;

int add_loaded(dl_phdr_info* object, std::size_t, void* paths) noexcept {
  // Where there is no memory for a list of names nothing else will go on either.
  const std::string_view path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  if (path.find('/') != std::string_view::npos) static_cast<Paths*>(paths)->emplace_back(path);
  return 0;
}

}  // namespace

std::vector<fs::path> travelling_program(const fs::path& program, const fs::path& folder) {
  Paths loaded;
  ::dl_iterate_phdr(add_loaded, &loaded);
  const fs::path libraries = folder / travelling_libraries;
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
