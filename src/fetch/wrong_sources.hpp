#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/partial_file.hpp>

#include <string>
#include <vector>

namespace sabath::fetch {

/// Search for the source of wrong bytes in a complete file that fails its digest. Bytes of an
/// earlier attempt may be of another version: they are dropped first, and no source is blamed. If
/// one source gave all bytes, it is to blame. Else the bytes of one source are fetched again from
/// the others, the last source of the document first, until the digest is right or one source is
/// left.
class WrongSources {
 public:
  /// `to` in its state before the fetch.
  WrongSources(const std::vector<std::string>& urls, const base::PartialFile& to)
      : urls_(urls), left_by_others_(to.present()) {}

  /// Called when the complete file is wrong. Forgets the bytes of a suspect. Returns the sources
  /// for the missing bytes; empty: none is left.
  std::vector<std::string> next(base::PartialFile& to, base::Observer& observer);
  /// Called when the file is right: the last suspect gave wrong bytes.
  void settle(base::Observer& observer);
  const std::vector<std::string>& wrong_sources() const { return wrong_; }
  /// Returns the sources of wrong bytes, with commas between; `url` where none was found.
  std::string places(const std::string& url) const;

 private:
  void find_guilty(const std::string& source, base::Observer& observer);
  std::vector<std::string> trusted() const;

  const std::vector<std::string>& urls_;
  std::vector<base::SourcedRange> left_by_others_;
  std::vector<std::string> suspects_{};
  std::vector<std::string> wrong_{};
};

/// Returns "SHA-256 mismatch: expected sha256:..., got sha256:..." for the digests that differ.
std::string digest_mismatch(const std::vector<base::Digest>& expected,
                            const std::vector<base::Digest>& actual);

}  // namespace sabath::fetch
