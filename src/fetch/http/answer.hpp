#pragma once

#include "content_range.hpp"
#include "failure.hpp"
#include "validators.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace sabath::fetch {

/// What one request asked for.
struct Asked {
  std::uint64_t offset_bytes = 0;
  std::optional<std::uint64_t> end_bytes{};  ///< nothing: everything from the offset on
  bool from_start = false;  ///< as a range, though it begins at 0: the answer tells more
  std::optional<std::uint64_t> size_bytes{};  ///< of the whole file, where it is known
  Validators validators{};                    ///< of the source's bytes that are there already
  /// There are such bytes, wherever they are: also what begins at 0 must be of their version.
  bool continues = false;
  Validators unless_it_is{};  ///< nothing but a 304 is wanted where it still is this version
  /// A digest will prove what the validators cannot.
  bool is_proved_later = false;

  bool is_range() const { return offset_bytes > 0 || end_bytes || from_start; }
  /// Is an answer that carries `other` of the version that is there?
  bool is_same(const Validators& other) const {
    return validators.can_prove() ? validators.proved_by(other) : is_proved_later;
  }
};

/// What a server said before the body. Other protocols are told in these terms: a continued FTP
/// transfer is a 206.
struct Answer {
  int status = 0;
  std::optional<std::uint64_t> content_length{};
  std::optional<ContentRange> range{};
  std::string malformed{};  ///< why no body of this answer can be the file's, whatever else it says
  std::string content_encoding{};
  std::string content_type{};
  Validators validators{};
  bool end_is_marked = false;  ///< also without a length, a body that was cut off is noticed
  std::chrono::milliseconds retry_after{0};
};

enum class Step {
  take,        ///< the body belongs into the file
  complete,    ///< the file is complete; there is no body to take
  unchanged,   ///< the file is still the version that was asked about
  start_over,  ///< what is there cannot be continued: drop it and ask for the whole
  refuse,      ///< the body is not the file's
  failed,      ///< a status that says no; its body may say why
};

struct Judgement {
  Step step = Step::refuse;
  std::uint64_t begin_bytes = 0;             ///< take: where the body's first byte belongs
  std::optional<std::uint64_t> end_bytes{};  ///< take: where the body must end, if it was said
  std::optional<std::uint64_t>
      size_bytes{};      ///< of the whole file, from the server or the document
  Failure failure{};     ///< start_over and refuse: why
  bool changed = false;  ///< start_over: the file is another than before; else ranges do not work
};

/// Decides before a byte is written.
Judgement judge(const Asked& asked, const Answer& answer);

}  // namespace sabath::fetch
