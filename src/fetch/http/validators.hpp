#pragma once

#include <string>

namespace sabath::fetch {

/// What tells one version of a file from another (RFC 9110, section 8.8).
struct Validators {
  std::string etag{};
  std::string last_modified{};

  bool operator==(const Validators&) const = default;

  bool strong_etag() const { return !etag.empty() && !etag.starts_with("W/"); }
  /// Can a later answer be proved to be of the same version?
  bool can_prove() const { return strong_etag() || !last_modified.empty(); }
  /// The header that asks for nothing but another version than this: by the ETag, which may be a
  /// weak one there (13.1.2), else by the date. Empty where neither can stand in a header: they may
  /// come from a file of ours that others can write.
  std::string unless_line() const;
  /// What If-Range carries: a strong ETag, else a date; a weak ETag proves nothing about bytes.
  const std::string& if_range() const { return strong_etag() ? etag : last_modified; }
  /// Is an answer that carries `other` of the same version? One that says nothing proves nothing.
  bool proved_by(const Validators& other) const {
    if (strong_etag()) return other.etag == etag;
    const bool etags_agree = etag.empty() || other.etag.empty() || etag == other.etag;
    return !last_modified.empty() && other.last_modified == last_modified && etags_agree;
  }
};

}  // namespace sabath::fetch
