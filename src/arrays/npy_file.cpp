#include "array_formats.hpp"
#include "file_bytes.hpp"
#include "npy_header.hpp"
#include "zip_members.hpp"

#include <iterator>

namespace sabath::arrays {

std::unique_ptr<base::ArraySource> open_npy(const std::filesystem::path& path,
                                            const base::ReadLimits& limits) {
  std::vector<std::unique_ptr<ByteSource>> sources;
  sources.push_back(std::make_unique<FileBytes>(path, limits));
  NameBudget names(path.string());
  auto arrays = read_npy(*sources.front(), "data", 0, path.string(), names);
  return open_strided(path.string(), std::move(arrays), std::move(sources));
}

std::unique_ptr<base::ArraySource> open_npz(const std::filesystem::path& path,
                                            const base::ReadLimits& limits) {
  constexpr std::string_view ending = ".npy";
  const auto members = ZipMembers::open(path, limits);
  std::vector<std::unique_ptr<ByteSource>> sources;
  std::vector<StridedArray> arrays;
  NameBudget names(path.string());
  for (std::size_t i = 0; i < members->list().size(); ++i) {
    std::string name = members->list()[i].path;
    sources.push_back(members->source(i));
    if (!name.ends_with(ending)) {
      arrays.push_back(fixed_text(name, digest_text(*sources.back())));
      continue;
    }
    name.resize(name.size() - ending.size());
    auto read = read_npy(*sources.back(), name, i, path.string() + ":" + name, names);
    std::move(read.begin(), read.end(), std::back_inserter(arrays));
  }
  return open_strided(path.string(), std::move(arrays), std::move(sources));
}

}  // namespace sabath::arrays
