#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/staged_file.hpp>

#include <string>
#include <vector>

namespace sabath::fetch {

/// Finds out whose bytes are wrong when a file is complete and has not its digest. What an earlier
/// attempt left may be of another version: it goes first, and is nobody's fault. If one source gave
/// all, it is the one. Else the bytes of one of them, the later in the document first, are
/// forgotten and had from the others; and so on until the digest is right or one source alone is
/// left.
class Blame {
 public:
  /// `to` as it is before anything is fetched.
  Blame(const std::vector<std::string>& urls, const base::StagedFile& to)
      : urls_(urls), left_by_others_(to.present()) {}

  /// The complete file is wrong: forgets the bytes of a suspect and returns from which sources the
  /// missing ones should come. Empty: there is nobody left to ask.
  std::vector<std::string> next(base::StagedFile& to, base::Observer& observer);
  /// The file is right: whoever was suspected last gave wrong bytes.
  void settle(base::Observer& observer);
  /// As messages show them.
  const std::vector<std::string>& wrong_sources() const { return wrong_; }
  /// The sources of wrong bytes, with commas between; `url` where none is found guilty.
  std::string places(const std::string& url) const;

 private:
  void find_guilty(const std::string& source, base::Observer& observer);
  std::vector<std::string> trusted() const;

  const std::vector<std::string>& urls_;
  std::vector<base::SourcedRange> left_by_others_;
  std::vector<std::string> suspects_{};
  std::vector<std::string> wrong_{};
};

/// "SHA-256 mismatch: expected sha256:..., got sha256:...", of those that differ.
std::string digest_mismatch(const std::vector<base::Digest>& expected,
                            const std::vector<base::Digest>& actual);

}  // namespace sabath::fetch
