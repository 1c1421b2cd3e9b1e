#include "file_position.hpp"

#include <algorithm>

namespace sabath::collect {

const std::vector<std::filesystem::path>& FilePositions::matching(
    const std::string& pattern, const std::function<std::vector<std::filesystem::path>()>& search) {
  constexpr int most_often = 20;
  Search& known = searches_[pattern];
  const auto begin = std::chrono::steady_clock::now();
  if (begin < known.next) return known.found;
  known.found = search();
  if (again_ == Duration::zero()) return known.found;
  const auto end = std::chrono::steady_clock::now();
  known.next = end + std::max(again_, (end - begin) * most_often);
  return known.found;
}

FilePosition* FilePositions::to_read(spec::SourceKind kind,
                                     const std::string& file,
                                     const std::filesystem::path& path,
                                     std::int32_t rank) {
  const auto stamp = base::stamp_of(path);
  if (!stamp) return nullptr;
  const auto [found, is_new] = positions_.try_emplace({kind, file, path});
  FilePosition& position = found->second;
  if (is_new) position.rank = rank;
  has_new_ranks_ = has_new_ranks_ || position.rank != rank;
  if (position.is_over || position.rank != rank) return nullptr;
  if (!is_new && position.stamp == *stamp) return nullptr;
  position.stamp = *stamp;
  return &position;
}

bool FilePositions::is_outdated() const {
  return has_new_ranks_ || std::ranges::any_of(positions_, [](const auto& one) {
           const auto stamp = base::stamp_of(std::get<2>(one.first));
           return !stamp || stamp->inode != one.second.stamp.inode ||
                  stamp->size_bytes < one.second.offset;
         });
}

}  // namespace sabath::collect
