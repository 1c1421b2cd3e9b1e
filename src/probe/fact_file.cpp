#include "fact_file.hpp"

#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/unique_fd.hpp>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::probe {
namespace {

constexpr std::size_t piece_bytes = std::size_t{32} << 10U;
constexpr std::size_t limit_bytes = std::size_t{16} << 20U;
constexpr std::string_view white = " \t\r\n";

}  // namespace

std::optional<std::string> read_fact(const std::filesystem::path& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string content;
  std::size_t filled = 0;
  while (filled < limit_bytes) {
    content.resize(filled + piece_bytes);
    const ssize_t got = ::read(fd.get(), content.data() + filled, piece_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  content.resize(filled);
  content.resize(content.find_last_not_of(white) + 1);
  return content;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  return base::leading_number<std::uint64_t>(text);
}

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
  const auto text = read_fact(path);
  return text ? parse_number(*text) : std::nullopt;
}

std::string link_text(const std::filesystem::path& link) {
  std::error_code code;
  return std::filesystem::read_symlink(link, code).string();
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code code;
  for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code))
    entries.push_back(at->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::string_view find_field(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && base::trimmed(line.substr(0, colon)) == key) {
      return base::trimmed(line.substr(colon + 1));
    }
    at = end + 1;
  }
  return {};
}

}  // namespace sabath::probe
