#pragma once

#include "byte_source.hpp"

#include <sabath/base/archive/zip_reader.hpp>
#include <sabath/base/process/read_limits.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sabath::arrays {

/// Members of a zip file, shared by several sources. Reading in the order of the members unpacks
/// each one once.
class ZipMembers : public std::enable_shared_from_this<ZipMembers> {
 public:
  /// Throws Error{integrity} for a damaged file and for two members of one name. Reading throws
  /// beyond the limits.
  static std::shared_ptr<ZipMembers> open(const std::filesystem::path& path,
                                          const base::ReadLimits& limits = {});

  const std::vector<base::ZipMember>& list() const noexcept { return members_; }
  bool has(const std::string& name) const;
  std::unique_ptr<ByteSource> source(std::size_t member);

 private:
  ZipMembers(const std::filesystem::path& path, const base::ReadLimits& limits);
  friend class ZipMemberBytes;
  void read(std::size_t member, std::uint64_t offset, std::span<std::byte> out);
  void go_to(std::size_t member, std::uint64_t offset);
  bool load();

  std::filesystem::path path_;
  base::ReadLimits limits_;
  std::vector<base::ZipMember> members_{};
  std::unique_ptr<base::ZipReader> reader_{};
  std::size_t next_ = 0;        ///< the next member of the reader
  std::uint64_t position_ = 0;  ///< of `left_` within the member before
  base::ByteView left_{};       ///< unpacked bytes that were not read yet
};

}  // namespace sabath::arrays
