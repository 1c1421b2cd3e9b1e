#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/partial_file.hpp>
#include <sabath/cache/content.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::cache {

/// An object that is being written, from Cache::open_partial. When it is destroyed unpublished, or
/// its process is killed, its parts stay for the next `open_partial` of the same key. A killed
/// process loses the pieces that were not complete.
class PartialObject : public base::PartialFile {
 private:
  friend class PartialObjectFile;  ///< the only implementation
  PartialObject() = default;
};

/// A complete file of a tree.
struct FinishedFile {
  std::uint64_t size_bytes = 0;
  base::Digest digest{};  ///< sha256
  std::string url{};      ///< from the caller, without secrets

  bool operator==(const FinishedFile&) const = default;
};

/// A tree that is being written, file by file or by a tool, from Cache::open_partial_tree. A file
/// costs one open, write and close; only `publish` syncs. Large files (8 MiB and more) should be
/// written as objects, which can be resumed, and added. When it is destroyed unpublished, or its
/// process is killed, finished files stay for the next `open_partial_tree` of the same key.
/// Thread safety: one thread at a time, files included. Every member throws Error{storage}.
class PartialTree {
 public:
  virtual ~PartialTree() = default;
  /// Returns a finished file, of this attempt or of an earlier one (then hashed again).
  virtual std::optional<FinishedFile> finished(const std::string& path) const = 0;
  /// Begins a file at a relative path; valid until `finish` or `abandon`. `finish` checks
  /// `expected`. Throws Error{usage} for a path that leaves the tree or is in use.
  virtual base::PartialFile& open(const std::string& path,
                                  const std::vector<base::Digest>& expected = {}) = 0;
  /// Throws Error{integrity} for missing or unexpected bytes; then the file is removed.
  virtual FinishedFile finish(const std::string& path, const std::string& url = {}) = 0;
  /// As `finish`, but does not wait for the disk. Up to 16 files are pending, and a killed process
  /// loses them. The next call, or `publish`, throws an error of the disk.
  virtual FinishedFile finish_soon(const std::string& path, const std::string& url = {}) = 0;
  virtual void abandon(const std::string& path) = 0;
  /// Puts an object of the same cache at a path. Throws Error{usage} as `open`.
  virtual void add(const std::string& path, const Object& object) = 0;
  /// Returns a folder for a tool that writes a whole tree. It still has what the same borrower left
  /// in an earlier attempt. Its content, without the tool's control files, becomes the whole tree.
  /// `publish` hashes all of it, with one thread per core.
  virtual std::filesystem::path lend(std::string_view borrower) = 0;

 private:
  friend class PartialTreeFolder;  ///< the only implementation
  PartialTree() = default;
};

}  // namespace sabath::cache
