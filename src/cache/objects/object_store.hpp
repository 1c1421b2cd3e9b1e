#pragma once

#include "file_status.hpp"
#include "gc/inspection.hpp"
#include "gc/uses.hpp"
#include "layout.hpp"
#include "memo.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/cache/cache.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::cache {

/// The blobs. References must outlive it. Where it may not write, what is damaged stays.
class ObjectStore {
 public:
  ObjectStore(const Layout& layout, const Memo& memo, const base::Clock& clock, const Uses* uses)
      : layout_(layout), memo_(memo), clock_(clock), uses_(uses) {}

  std::optional<Object> find(const base::Digest& digest) const;
  /// Hashes the object if `full`, or if the memo does not vouch for it. Throws what `progress`
  /// throws.
  Inspection inspect(const base::Digest& digest,
                     bool full,
                     const ReadProgress& progress = {}) const;
  /// Renames a durable, read-only file to its place; where a right object is there already the file
  /// stays where it is. Throws Error{storage}.
  /// `from` has the folder of `file` open. `hashed` is the status that the bytes were hashed with.
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
    FileStatus status{};  ///< of the file that was found right
  };
  std::optional<Found> look(const base::Digest& digest) const;
  std::optional<std::string> take_inode(const Found& found,
                                        const std::filesystem::path& file) const;
  /// Makes the file the object, if it is still as it was hashed; or says why not.
  std::optional<std::string> make_object(const std::filesystem::path& file,
                                         const base::Digest& digest,
                                         const FileStatus& hashed,
                                         bool durable) const;

  const Layout& layout_;
  const Memo& memo_;
  const base::Clock& clock_;
  const Uses* uses_;  ///< none where nothing may be written
};

}  // namespace sabath::cache
