#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/unique_fd.hpp>

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

struct AlgorithmRow {
  DigestAlgorithm algorithm;
  std::string_view name;
  std::size_t hex_digits;
  const EVP_MD* (*implementation)();
};

constexpr std::array<AlgorithmRow, 4> algorithms{{
    {DigestAlgorithm::sha256, "sha256", 64, EVP_sha256},
    {DigestAlgorithm::sha512, "sha512", 128, EVP_sha512},
    {DigestAlgorithm::sha1, "sha1", 40, EVP_sha1},
    {DigestAlgorithm::md5, "md5", 32, EVP_md5},
}};

const AlgorithmRow& row_of(DigestAlgorithm algorithm) {
  return *std::find_if(algorithms.begin(), algorithms.end(), [&](const AlgorithmRow& row) {
    return row.algorithm == algorithm;
  });
}

}  // namespace

std::string_view to_string(DigestAlgorithm algorithm) {
  return row_of(algorithm).name;
}

std::optional<DigestAlgorithm> digest_algorithm(std::string_view name) {
  for (const AlgorithmRow& row : algorithms) {
    if (row.name == name) return row.algorithm;
  }
  return std::nullopt;
}

std::string Digest::text() const {
  return std::string(to_string(algorithm)) + ":" + hex;
}

std::optional<Digest> parse_digest(DigestAlgorithm algorithm, std::string_view hex) {
  if (hex.size() != row_of(algorithm).hex_digits) return std::nullopt;
  std::string lower(hex);
  for (char& c : lower) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isxdigit(byte) == 0) return std::nullopt;
    c = static_cast<char>(std::tolower(byte));
  }
  return Digest{algorithm, lower};
}

std::optional<Digest> parse_digest(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return parse_digest(DigestAlgorithm::sha256, text);
  const auto algorithm = digest_algorithm(text.substr(0, colon));
  if (!algorithm) return std::nullopt;
  return parse_digest(*algorithm, text.substr(colon + 1));
}

struct Hasher::State {
  DigestAlgorithm algorithm;
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                  EVP_MD_CTX_free};
};

Hasher::Hasher(DigestAlgorithm algorithm) : state_(new State{algorithm}) {
  if (!state_->context ||
      EVP_DigestInit_ex(state_->context.get(), row_of(algorithm).implementation(), nullptr) != 1) {
    throw Error(ErrorKind::internal,
                std::string(to_string(algorithm)) + ": OpenSSL does not offer it here");
  }
}

Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::update(ByteView bytes) {
  EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size());
}

Hasher Hasher::copy() const {
  Hasher other(state_->algorithm);
  if (EVP_MD_CTX_copy_ex(other.state_->context.get(), state_->context.get()) != 1) {
    throw Error(ErrorKind::internal, "OpenSSL cannot copy the state of a digest");
  }
  return other;
}

Digest Hasher::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int length = 0;
  EVP_DigestFinal_ex(state_->context.get(), bytes.data(), &length);
  return {state_->algorithm,
          fmt::format("{:02x}", fmt::join(bytes.begin(), bytes.begin() + length, ""))};
}

Digest sha256_of(std::string_view text) {
  Hasher hasher;
  hasher.update(text);
  return hasher.finish();
}

Digest digest_file(const std::filesystem::path& path,
                   DigestAlgorithm algorithm,
                   const std::function<void(std::uint64_t bytes)>& report) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw_errno(path.string(), "cannot open", errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) == 0 && S_ISFIFO(status.st_mode)) {
    throw Error(ErrorKind::storage, path.string() + ": cannot read: is a pipe, not a file");
  }
  const bool is_device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  Hasher hasher(algorithm);
  // Not cleared: of a tree's many small files that would take longer than to hash them.
  constexpr std::size_t buffer_bytes = 1U << 20U;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
  std::uint64_t done = 0;
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer.get(), buffer_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(path.string(), "cannot read", errno);
    if (got == 0) return hasher.finish();
    if (is_device) {
      throw Error(ErrorKind::storage, path.string() + ": cannot read: is a device, not a file");
    }
    hasher.update({buffer.get(), static_cast<std::size_t>(got)});
    done += static_cast<std::uint64_t>(got);
    if (report) report(done);
  }
}

}  // namespace sabath::base
