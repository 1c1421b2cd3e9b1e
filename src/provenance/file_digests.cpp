#include <sabath/base/file.hpp>
#include <sabath/base/file_stamp.hpp>
#include <sabath/provenance/file_digests.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace sabath::provenance {
namespace {

namespace fs = std::filesystem;

/// Smaller files are read as quickly as a memo of them.
constexpr std::uint64_t large_bytes = 1U << 20U;

}  // namespace

bool is_of_system(const fs::path& path) {
  constexpr std::array<std::string_view, 10> folders{
      "/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr"};
  if (base::is_beneath(path, "/usr/local")) return false;
  return std::ranges::any_of(
      folders, [&](std::string_view folder) { return base::is_beneath(path, folder); });
}

FileDigests::FileDigests(const fs::path& state_directory) {
  if (!state_directory.empty()) memo_.emplace(state_directory / "named-files");
}

base::Digest FileDigests::of(const fs::path& file,
                             const std::function<void(std::uint64_t)>& report) {
  const auto read = [&] {
    if (report) report(0);
    return base::digest_file(file, base::DigestAlgorithm::sha256, report);
  };
  const auto stamp = memo_ ? base::stamp_of(file) : std::nullopt;
  if (!stamp || stamp->size_bytes < large_bytes) return read();
  const std::string key = stamp->text() + ":" + file.string();
  if (const auto known = base::parse_digest(memo_->get(key).value_or(""))) return *known;
  base::Digest digest = read();
  if (stamp->is_settled() && base::stamp_of(file) == stamp) memo_->put(key, digest.text());
  return digest;
}

void FileDigests::save() noexcept {
  if (memo_) memo_->save();
}

}  // namespace sabath::provenance
