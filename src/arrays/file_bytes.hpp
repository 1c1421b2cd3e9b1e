#pragma once

#include "byte_source.hpp"

#include <sabath/base/process/read_limits.hpp>
#include <sabath/base/unique_fd.hpp>

#include <filesystem>

namespace sabath::arrays {

/// Bytes of a regular file. Reading throws beyond the limits.
class FileBytes final : public ByteSource {
 public:
  /// Throws Error{not_found|storage}, and Error{integrity} for a file that is not regular.
  explicit FileBytes(const std::filesystem::path& path, base::ReadLimits limits = {});

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) override;
  int descriptor() const noexcept { return fd_.get(); }

 private:
  std::string place_;
  base::ReadLimits limits_;
  base::UniqueFd fd_;
  std::uint64_t size_ = 0;
};

/// A temporary file, removed by the destructor.
class SpooledBytes final : public ByteSource {
 public:
  /// Throws Error{storage}, as the writing does.
  SpooledBytes();

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) override;
  void write(std::uint64_t offset, std::span<const std::byte> bytes);

 private:
  std::string place_;
  base::UniqueFd fd_;
  std::uint64_t size_ = 0;
};

}  // namespace sabath::arrays
