#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// Writes a zip file that is the same for the same members: a fixed date, no owners, names in
/// UTF-8, Zip64 where it is needed. The file appears under its name at the end. Thread safety: one
/// thread at a time.
class ZipWriter {
 public:
  /// A member as it was written.
  struct Member {
    std::string name{};
    std::uint64_t size_bytes = 0;
    std::uint64_t packed_bytes = 0;
    std::uint64_t offset = 0;
    std::uint32_t crc = 0;
    bool is_deflated = false;
    Digest digest{};  ///< sha256 of the content
  };

  /// Throws Error{storage} where no file can be made beside `to`.
  explicit ZipWriter(std::filesystem::path to);
  /// Removes what was written, unless `finish` was called.
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  /// Adds a text, deflated where that makes it smaller.
  const Member& add_text(const std::string& name, std::string_view text);
  /// Adds a file unpacked, and calls `report` with the bytes read so far. Throws
  /// Error{not_found|storage}, also for a file that changes meanwhile; Error{interrupted}.
  const Member& add_file(const std::string& name,
                         const std::filesystem::path& file,
                         const std::function<void(std::uint64_t bytes)>& report,
                         const std::stop_token& stop);
  const std::vector<Member>& members() const { return members_; }

  /// Writes the directory, the member `first` before the others, which are sorted by name. Durable
  /// on return. Replaces a file of this name. Throws Error{storage}.
  void finish(const std::string& first);

 private:
  void write(std::string_view bytes);
  void write_header(const Member& member);

  std::filesystem::path to_;
  std::filesystem::path temporary_;
  UniqueFd file_;
  std::uint64_t offset_ = 0;
  std::vector<Member> members_{};
};

}  // namespace sabath::base
