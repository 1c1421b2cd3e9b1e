#pragma once

#include "failure.hpp"

#include <sabath/base/bytes.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::fetch {

/// Identification of a file's version (RFC 9110, section 8.8).
struct Validators {
  std::string etag{};
  std::string last_modified{};

  bool operator==(const Validators&) const = default;

  bool strong_etag() const { return !etag.empty() && !etag.starts_with("W/"); }
  /// Can they prove that a later answer is of the same version?
  bool can_prove() const { return strong_etag() || !last_modified.empty(); }
  /// Returns the header that requests only another version: by the ETag, which may be weak
  /// (13.1.2), else by the date. Empty where neither is valid in a header: they may come from a
  /// file that others can write.
  std::string unless_line() const;
  /// Value of If-Range: a strong ETag, else a date. A weak ETag proves nothing about bytes.
  const std::string& if_range() const { return strong_etag() ? etag : last_modified; }
  /// Does an answer with the validators `other` prove the same version?
  bool proved_by(const Validators& other) const {
    if (strong_etag()) return other.etag == etag;
    const bool etags_agree = etag.empty() || other.etag.empty() || etag == other.etag;
    return !last_modified.empty() && other.last_modified == last_modified && etags_agree;
  }
};

/// Value of a Content-Range header (RFC 9110, section 14.4), half open: [begin, end) of total.
struct ContentRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::optional<std::uint64_t> total{};  ///< nothing for "*"
  bool unsatisfied = false;              ///< "bytes */N": only the total is known

  bool operator==(const ContentRange&) const = default;
  std::uint64_t size() const { return end - begin; }
};

/// Returns nothing when `text` is malformed or contradictory. Some servers send "bytes N-(N-1)/N"
/// for a range that begins at the end: it is an empty range.
std::optional<ContentRange> parse_content_range(std::string_view text);

/// Conditions of one request.
struct Asked {
  std::uint64_t offset_bytes = 0;
  std::optional<std::uint64_t> end_bytes{};  ///< nothing: to the end
  bool from_start = false;  ///< a range although it begins at 0: the answer has more facts
  std::optional<std::uint64_t> size_bytes{};  ///< of the whole file, where it is known
  Validators validators{};                    ///< of the present bytes of the source
  /// The source has present bytes: a body from 0 must be of their version too.
  bool continues = false;
  Validators unless_it_is{};  ///< only a 304 is wanted for this version
  /// A digest will prove what the validators cannot.
  bool is_proved_later = false;

  bool is_range() const { return offset_bytes > 0 || end_bytes || from_start; }
  /// Is an answer with the validators `other` of the version of the present bytes?
  bool is_same(const Validators& other) const {
    return validators.can_prove() ? validators.proved_by(other) : is_proved_later;
  }
};

/// What a server says before the body. Other protocols use these terms: a continued FTP transfer is
/// a 206.
struct Answer {
  int status = 0;
  std::optional<std::uint64_t> content_length{};
  std::optional<ContentRange> range{};
  std::string malformed{};  ///< why the body cannot be the file's
  std::string content_encoding{};
  std::string content_type{};
  Validators validators{};
  bool end_is_marked = false;  ///< a cut is noticed without a length too
  std::chrono::milliseconds retry_after{0};
};

enum class Step {
  take,        ///< the body belongs to the file
  complete,    ///< the file is complete; the body is not needed
  unchanged,   ///< the file is still the version that was asked about
  start_over,  ///< drop the partial and ask for the whole
  refuse,      ///< the body is not the file's
  failed,      ///< an error status; its body may have the cause
};

struct Judgement {
  Step step = Step::refuse;
  std::uint64_t begin_bytes = 0;             ///< take: where the body's first byte belongs
  std::optional<std::uint64_t> end_bytes{};  ///< take: where the body must end, if known
  std::optional<std::uint64_t>
      size_bytes{};      ///< of the whole file, from the server or the document
  Failure failure{};     ///< start_over and refuse: why
  bool changed = false;  ///< start_over: the file has changed; else ranges do not work
};

/// Decides about an answer before a byte is written.
Judgement judge(const Asked& asked, const Answer& answer);

/// Consumer of an answer and its body.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// Called before the first byte of the body.
  virtual void begin(const Answer& answer) = 0;
  /// Takes the next bytes of the body. Returns false to end the transfer.
  virtual bool take(base::ByteView bytes) = 0;
};

/// Adds to the beginning of an error page, in which S3 says more. Returns false when it is enough.
inline bool keep_error_body(std::string& body, base::ByteView bytes) {
  constexpr std::size_t limit = 8192;
  body += base::as_text(bytes.first(std::min(bytes.size(), limit - body.size())));
  return body.size() < limit;
}

}  // namespace sabath::fetch
