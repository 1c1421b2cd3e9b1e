#include "response_writer.hpp"

#include "http/http_status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sabath::fetch {

void ResponseWriter::begin(const Answer& answer) {
  answer_ = answer;
  judgement_ = judge(asked_, answer);
  failure_ = judgement_.failure;
  if (judgement_.step != Step::take) return;
  position_bytes_ = judgement_.begin_bytes;
  if (position_bytes_ == 0) {
    if (to_.contiguous_bytes() > 0) to_.restart();
    validators_ = answer.validators;
  }
  source_number_ = to_.number_of({source_, validators_.etag, validators_.last_modified});
  if (judgement_.size_bytes) to_.reserve(*judgement_.size_bytes);
}

bool ResponseWriter::take(base::ByteView bytes) {
  received_bytes_ += bytes.size();
  if (judgement_.step == Step::failed) {
    return keep_error_body(error_body_, bytes);
  }
  if (judgement_.step != Step::take) return false;
  const auto limit = judgement_.end_bytes ? judgement_.end_bytes : judgement_.size_bytes;
  if (limit && bytes.size() > *limit - position_bytes_) {
    too_much_ = true;
    return false;
  }
  // A cache in between may serve whole blocks: present bytes are skipped.
  const std::uint64_t wanted_from = judgement_.begin_bytes == 0 ? 0 : asked_.offset_bytes;
  const std::uint64_t known = std::max(wanted_from, position_bytes_) - position_bytes_;
  const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(known, bytes.size()));
  if (skipped < bytes.size()) {
    to_.write_at(position_bytes_ + skipped, bytes.subspan(skipped), source_number_);
  }
  position_bytes_ += bytes.size();
  return true;
}

End ResponseWriter::drop(std::string problem, std::string hint) {
  to_.restart();
  validators_ = {};
  failure_ = {.problem = std::move(problem), .hint = std::move(hint)};
  return End::failed;
}

End ResponseWriter::refused() {
  if (judgement_.step == Step::failed) {
    failure_ = status_failure(*answer_, error_body_);
    return End::failed;
  }
  if (judgement_.step == Step::refuse) return End::failed;
  to_.restart();
  validators_ = {};
  return End::again;
}

End ResponseWriter::finish() {
  if (judgement_.step == Step::complete) return End::complete;
  if (judgement_.step == Step::unchanged) return End::unchanged;
  if (judgement_.step != Step::take) return refused();
  const auto& size = judgement_.size_bytes;
  if (judgement_.end_bytes && position_bytes_ < *judgement_.end_bytes) {
    return break_off({.problem = "the connection was closed", .retryable = true});
  }
  if (!size || position_bytes_ == *size) {
    judgement_.size_bytes = position_bytes_;
    return End::complete;
  }
  if (answer_->range) return End::more;
  const std::string problem =
      fmt::format("server sent {} bytes where {} are expected", position_bytes_, *size);
  if (answer_->end_is_marked)
    return drop(problem, "the file has changed, or the answer is another page");
  failure_ = {.problem = problem, .retryable = true};
  return End::failed;
}

End ResponseWriter::break_off(const Failure& cause) {
  if (judgement_.step == Step::complete) return End::complete;
  if (answer_ && judgement_.step != Step::take) return refused();
  if (too_much_) {
    const auto limit = judgement_.end_bytes ? judgement_.end_bytes : judgement_.size_bytes;
    return drop(fmt::format("server sends more than the {} bytes that are expected", *limit),
                "the file has changed, or the document's size is wrong");
  }
  failure_ = cause;
  if (answer_ && judgement_.size_bytes) {
    failure_.problem +=
        fmt::format(" after {} of {} bytes", position_bytes_, *judgement_.size_bytes);
  }
  return End::failed;
}

}  // namespace sabath::fetch
