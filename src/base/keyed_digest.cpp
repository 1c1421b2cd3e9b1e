#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/keyed_digest.hpp>
#include <sabath/base/unique_fd.hpp>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <cstddef>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

constexpr std::size_t key_bytes = 32;

/// Nothing where the file is another user's, can be read by others, or holds something else.
std::optional<std::string> read_key(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_uid != ::geteuid() || (status.st_mode & 0077U) != 0) return std::nullopt;
  std::array<char, key_bytes + 1> buffer{};
  if (::read(fd.get(), buffer.data(), buffer.size()) != static_cast<ssize_t>(key_bytes))
    return std::nullopt;
  return std::string(buffer.data(), key_bytes);
}

}  // namespace

std::optional<KeyedDigest> KeyedDigest::with_key_in(const std::filesystem::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) {
    std::array<unsigned char, key_bytes> random{};
    if (::RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) return std::nullopt;
    try {
      make_directories(file.parent_path());
      // Of two processes that make it at once, both read what the first has written.
      write_file_once(file, std::string(random.begin(), random.end()), 0600);
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  auto key = read_key(file);
  if (!key) return std::nullopt;
  return KeyedDigest(std::move(*key));
}

std::string KeyedDigest::of(std::string_view text) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  ::HMAC(::EVP_sha256(),
         key_.data(),
         static_cast<int>(key_.size()),
         reinterpret_cast<const unsigned char*>(text.data()),
         text.size(),
         digest.data(),
         &length);
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + length, ""));
}

std::string KeyedDigest::key_name() const {
  return of("name of the key");
}

}  // namespace sabath::base
