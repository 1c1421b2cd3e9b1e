#include "fact_file.hpp"
#include "probes.hpp"

#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/regex.hpp>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// Names for which programs linked with BLAS ask the loader. libblas.so.3 is the system's choice
/// (update-alternatives).
constexpr std::string_view blas_names[] = {"libmkl_rt.so.2",
                                           "libmkl_rt.so.1",
                                           "libopenblas.so.0",
                                           "libopenblas.so",
                                           "libblis.so.4",
                                           "libblas.so.3"};

/// A path of the loader's cache that ends in /`name`. The cache holds its paths as text that ends
/// with a zero byte, in every version of its format (glibc, sysdeps/generic/dl-cache.h).
fs::path find_in_cache(const std::string& cache, std::string_view name) {
  const auto tail = "/" + std::string(name) + '\0';
  const auto at = cache.find(tail);
  if (at == std::string::npos) return {};
  const auto begin = cache.rfind('\0', at) + 1;  // npos + 1 is the beginning
  return cache.substr(begin, at + tail.size() - 1 - begin);
}

/// Searches as the loader: LD_LIBRARY_PATH, the cache, the default folders.
fs::path find_library(const fs::path& root) {
  std::error_code problem;
  const auto named =
      base::split(base::variable_of(base::current_environment(), "LD_LIBRARY_PATH"), ':');
  std::vector<fs::path> folders(named.begin(), named.end());
  const auto search = [&](std::string_view name) -> fs::path {
    for (const auto& folder : folders) {
      if (fs::exists(folder / name, problem)) return folder / name;
    }
    return {};
  };
  for (const auto name : blas_names) {
    if (auto found = search(name); !found.empty()) return found;
  }
  const auto cache = read_fact(root / "etc/ld.so.cache").value_or("");
  folders = {root / "lib64", root / "usr/lib64", root / "lib", root / "usr/lib"};
  for (const auto name : blas_names) {
    const auto cached = find_in_cache(cache, name);
    if (!cached.empty() && fs::exists(root / cached.relative_path(), problem)) {
      return root / cached.relative_path();
    }
    if (auto found = search(name); !found.empty()) return found;
  }
  return {};
}

/// "libopenblasp-r0.3.21.so" and ".../mkl/2023.1.0/lib/libmkl_rt.so.2" tell their versions: the
/// last number with a point in it.
std::string version_in(const std::string& path) {
  base::Regex number(R"(.*?(\d+(?:\.\d+)+))");
  std::string version;
  for (std::size_t at = 0; number.search(path, at) == base::Regex::Outcome::found;
       at += number.group(0)->size()) {
    version = *number.group(1);
  }
  return version;
}

}  // namespace

/// BLAS that the loader would find, without loading it. Not kept: modules and alternatives may
/// change it at any time.
void probe_blas(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) {
  const auto library = find_library(sources.root);
  if (library.empty()) return;
  std::error_code problem;
  const auto real = fs::canonical(library, problem);
  const auto path = problem ? library.string() : real.string();
  const auto version = version_in(path);
  facts.blas = version.empty() ? path : path + " (" + version + ")";
}

}  // namespace sabath::probe
