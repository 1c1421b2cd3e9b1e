#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/execution/empty_file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view empty_zip{"PK\5\6", 4};

/// Thrown at a byte that is not 0: an archive without members is zeros.
struct HasContent {};

void require_zeros(base::ByteView bytes) {
  if (!std::ranges::all_of(bytes, [](auto byte) { return byte == std::byte{0}; }))
    throw HasContent{};
}

/// Returns how the file is packed, by its name: "" for a plain tar; nothing for other files.
std::optional<std::string_view> packing_of(const std::string& name) {
  struct Ending {
    std::string_view text;
    std::string_view kind;
  };
  constexpr std::array<Ending, 9> endings{{{".tar", ""},
                                           {".tar.gz", "gz"},
                                           {".tgz", "gz"},
                                           {".tar.bz2", "bz2"},
                                           {".tbz2", "bz2"},
                                           {".tar.xz", "xz"},
                                           {".txz", "xz"},
                                           {".tar.zst", "zst"},
                                           {".tzst", "zst"}}};
  for (const Ending& ending : endings) {
    if (name.ends_with(ending.text)) return ending.kind;
  }
  return std::nullopt;
}

void require_zeros_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string block(1U << 16U, '\0');
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    require_zeros(std::as_bytes(std::span(block.data(), count)));
  }
  if (file.bad()) base::throw_errno(path.string(), "cannot read", errno);
}

}  // namespace

bool holds_nothing(const fs::path& path) {
  std::error_code code;
  const auto size = fs::file_size(path, code);
  if (code) base::throw_errno(path.string(), "cannot read", code.value());
  if (size == 0) return true;
  std::ifstream file(path, std::ios::binary);
  std::string start(empty_zip.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start == empty_zip) return true;
  const auto packing = packing_of(path.filename().string());
  if (!packing) return false;
  try {
    if (packing->empty()) {
      require_zeros_in(path);
    } else {
      base::SilentObserver silent;
      base::decompress_file(path, *packing, require_zeros, {}, silent);
    }
    return true;
  } catch (const HasContent&) {
    return false;
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::integrity) throw;
    return false;  // its bytes are compared as they are
  }
}

}  // namespace sabath::execution
