#pragma once

#include "digest_memo.hpp"
#include "file_status.hpp"
#include "gc/uses.hpp"
#include "layout.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/cache/content.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::cache {

/// Result of the inspection of an object or a tree.
struct Inspection {
  bool exists = false;
  std::uint64_t size_bytes = 0;
  std::uint64_t bytes_hashed = 0;
  FileStatus status{};  ///< of the inspected entry, before it was read
  Tree tree{};          ///< for a tree with a right manifest
  std::vector<VerifyFinding> damaged{};
};

/// The objects of one cache. References outlive it. In a read-only cache damaged objects stay.
class ObjectStore {
 public:
  ObjectStore(const Layout& layout,
              const Memo& memo,
              const base::Clock& clock,
              const Uses* uses,
              base::Trust trust)
      : layout_(layout), memo_(memo), clock_(clock), uses_(uses), trust_(std::move(trust)) {}

  std::optional<Object> find(const base::Digest& digest) const;
  /// Hashes the object if `full`, or if the memo does not vouch for it. Always hashes the object of
  /// an untrusted owner, who can write through a mapping and leave the times as they were. Throws
  /// as `progress`.
  Inspection inspect(const base::Digest& digest,
                     bool full,
                     const ReadProgress& progress = {}) const;
  /// Renames a durable, read-only file to its place. Where a right object exists already, the file
  /// stays. `from` has its folder open; `hashed` is its status when hashed. Throws Error{storage}.
  Object adopt(const base::Beneath& from,
               const std::filesystem::path& file,
               const base::Digest& digest,
               const FileStatus& hashed) const;

  /// As Cache::share.
  std::optional<std::string> share(const std::filesystem::path& file,
                                   const base::Digest& digest,
                                   const FileStatus& hashed,
                                   bool durable) const;
  /// As Cache::link.
  std::optional<std::string> link(const base::Digest& digest,
                                  const std::filesystem::path& file) const;

 private:
  struct Found {
    Object object{};
    FileStatus status{};  ///< of the verified file
  };
  std::optional<Found> look(const base::Digest& digest) const;
  std::optional<std::string> take_inode(const Found& found,
                                        const std::filesystem::path& file) const;
  /// Makes the file the object if it has not changed since hashing; else returns the reason.
  std::optional<std::string> make_object(const std::filesystem::path& file,
                                         const base::Digest& digest,
                                         const FileStatus& hashed,
                                         bool durable) const;

  const Layout& layout_;
  const Memo& memo_;
  const base::Clock& clock_;
  const Uses* uses_;  ///< none where nothing may be written
  base::Trust trust_;
};

}  // namespace sabath::cache
