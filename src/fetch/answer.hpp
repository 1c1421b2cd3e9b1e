#pragma once

#include "content_range.hpp"
#include "failure.hpp"
#include "validators.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace sabath::fetch {

/// What one request asked for: everything from `offset_bytes` on.
struct Asked {
  std::uint64_t offset_bytes = 0;
  std::optional<std::uint64_t> size_bytes{};  ///< of the whole file, where the document says
  Validators validators{};                    ///< of the bytes before the offset
};

/// What a server said before the body. Other protocols are told in these terms: a continued FTP
/// transfer is a 206.
struct Answer {
  int status = 0;
  std::optional<std::uint64_t> content_length{};
  std::optional<ContentRange> range{};
  std::string content_encoding{};
  std::string content_type{};
  Validators validators{};
  bool end_is_marked = false;  ///< also without a length, a body that was cut off is noticed
  bool redirected = false;
  std::chrono::milliseconds retry_after{0};
};

enum class Step {
  take,        ///< the body belongs into the file
  complete,    ///< the file is complete; there is no body to take
  start_over,  ///< what is there cannot be continued: drop it and ask for the whole
  refuse,      ///< the body is not the file's
  failed,      ///< a status that says no; its body may say why
};

struct Judgement {
  Step step = Step::refuse;
  std::uint64_t begin_bytes = 0;             ///< take: where the body's first byte belongs
  std::optional<std::uint64_t> end_bytes{};  ///< take: where the body must end, if it was said
  std::optional<std::uint64_t>
      size_bytes{};   ///< of the whole file, from the server or the document
  Failure failure{};  ///< start_over and refuse: why
};

/// Decides before a byte is written.
Judgement judge(const Asked& asked, const Answer& answer);

}  // namespace sabath::fetch
