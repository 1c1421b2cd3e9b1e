#include <sabath/base/error.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/mask_secrets.hpp>
#include <sabath/base/unique_fd.hpp>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::base {
namespace {

constexpr std::size_t shortest = 8;
constexpr std::size_t block_bytes = std::size_t{1} << 20U;

/// What the file has at `offset`, at most `length` bytes.
std::string read_at(int file, const std::filesystem::path& path, std::size_t length, off_t offset) {
  std::string text(length, '\0');
  std::size_t done = 0;
  while (done < length) {
    const ssize_t got =
        ::pread(file, text.data() + done, length - done, offset + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(path.string(), "cannot read", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

void write_at(int file, const std::filesystem::path& path, std::string_view text, off_t offset) {
  while (!text.empty()) {
    const ssize_t put = ::pwrite(file, text.data(), text.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_errno(path.string(), "cannot mask secrets", errno);
    text.remove_prefix(static_cast<std::size_t>(put));
    offset += put;
  }
}

}  // namespace

KnownSecrets::KnownSecrets(const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    const bool is_mask = value.find_first_not_of('*') == std::string::npos;
    if (value.size() < shortest || is_mask) continue;
    values_.push_back(value);
    values_.push_back(percent_encoded(value, "-._~"));
  }
  std::sort(values_.begin(), values_.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  if (!values_.empty()) longest_ = values_.front().size();
}

bool KnownSecrets::are_in(std::string_view text) const {
  return std::any_of(values_.begin(), values_.end(), [&](const std::string& value) {
    return text.find(value) != std::string_view::npos;
  });
}

std::uint64_t KnownSecrets::mask(std::string& text) const {
  std::uint64_t count = 0;
  for (const std::string& value : values_) {
    for (auto at = text.find(value); at != std::string::npos;
         at = text.find(value, at + value.size())) {
      text.replace(at, value.size(), value.size(), '*');
      ++count;
    }
  }
  return count;
}

std::string KnownSecrets::masked(std::string text) const {
  mask(text);
  return text;
}

std::uint64_t KnownSecrets::mask_file(const std::filesystem::path& file) const {
  if (values_.empty()) return 0;
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && (errno == ENOENT || errno == ELOOP)) return 0;
  if (!fd) throw_errno(file.string(), "cannot read", errno);
  UniqueFd writable;
  std::uint64_t count = 0;
  off_t offset = 0;
  // Blocks overlap by what a secret that begins in one can have in the next; what is masked in the
  // overlap is not found again.
  for (;;) {
    std::string block = read_at(fd.get(), file, block_bytes + longest_ - 1, offset);
    const std::uint64_t found = mask(block);
    if (found > 0) {
      if (!writable) {
        writable = UniqueFd(::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
        if (!writable) throw_errno(file.string(), "cannot mask secrets", errno);
      }
      write_at(writable.get(), file, block, offset);
      count += found;
    }
    if (block.size() < block_bytes + longest_ - 1) return count;
    offset += static_cast<off_t>(block_bytes);
  }
}

}  // namespace sabath::base
