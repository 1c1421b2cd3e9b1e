#include <sabath/base/file_end.hpp>

#include <algorithm>
#include <fstream>

namespace sabath::base {

std::string read_file_end(const std::filesystem::path& path, std::size_t most_bytes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto size = static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0));
  std::string text(std::min(size, most_bytes), '\0');
  file.seekg(static_cast<std::streamoff>(size - text.size()));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace sabath::base
