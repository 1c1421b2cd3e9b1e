#pragma once

#include "byte_source.hpp"

#include <sabath/base/process/read_limits.hpp>
#include <sabath/base/unique_fd.hpp>

#include <filesystem>

namespace sabath::arrays {

/// The bytes of a regular file. Reading them throws beyond the limits.
class FileBytes final : public ByteSource {
 public:
  /// Throws Error{not_found|storage}, and Error{integrity} for what is no regular file.
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

/// A temporary file that is gone when this is.
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
