#pragma once

#include <sabath/base/bytes.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace sabath::base {

/// A file within a zip file, as its header states it.
struct ZipMember {
  std::string path{};
  std::uint64_t size_bytes = 0;  ///< unpacked
};

/// Reads the files of a zip file one after the other, in the order in which they lie there. All
/// failures are Error{integrity} that name the archive.
class ZipReader {
 public:
  explicit ZipReader(const std::filesystem::path& path);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  /// The next one, or nothing at the end. Folders and links are left out.
  std::optional<ZipMember> next();
  /// The next bytes of that; empty at its end. Valid until the next call.
  ByteView read();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::base
