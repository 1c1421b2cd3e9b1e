#include "log_tail.hpp"

#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <fstream>

namespace sabath::execution {
namespace {

constexpr std::size_t tail_bytes = 4096;
constexpr std::size_t tail_lines = 20;

}  // namespace

std::string tail_of(const std::filesystem::path& log) {
  std::ifstream stream(log, std::ios::binary | std::ios::ate);
  if (!stream) return {};
  const auto size = static_cast<std::size_t>(stream.tellg());
  const std::size_t length = std::min(size, tail_bytes);
  stream.seekg(static_cast<std::streamoff>(size - length));
  std::string text(length, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(length));
  // A line without its beginning may be a secret that nobody knows any more.
  if (length < size) text.erase(0, std::min(text.find('\n'), text.size()));
  while (text.ends_with('\n'))
    text.pop_back();
  std::size_t lines = 0;
  for (std::size_t at = text.size(); at > 0; --at) {
    if (text[at - 1] == '\n' && ++lines == tail_lines) {
      text.erase(0, at);
      break;
    }
  }
  return base::printable(text, true);
}

}  // namespace sabath::execution
