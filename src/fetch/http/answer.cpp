#include "answer.hpp"

#include <fmt/format.h>

namespace sabath::fetch {

namespace {

Judgement refuse(std::string problem, std::string hint = {}) {
  Judgement judgement;
  judgement.step = Step::refuse;
  judgement.failure.problem = std::move(problem);
  judgement.failure.hint = std::move(hint);
  return judgement;
}

/// Should the second answer be no better, another attempt may still find the server at rest.
Judgement start_over(std::string problem) {
  Judgement judgement = refuse(std::move(problem));
  judgement.step = Step::start_over;
  judgement.failure.retryable = true;
  return judgement;
}

Judgement changed(std::string problem) {
  Judgement judgement = start_over(std::move(problem));
  judgement.changed = true;
  return judgement;
}

Judgement complete(std::uint64_t size_bytes) {
  Judgement judgement;
  judgement.step = Step::complete;
  judgement.size_bytes = size_bytes;
  return judgement;
}

/// 416 is the answer to a complete file and to a partial that is longer than the file is now: only
/// the total tells them apart.
Judgement judge_unsatisfied(const Asked& asked, const Answer& answer) {
  if (!asked.is_range()) return {.step = Step::failed};
  const auto total = answer.range ? answer.range->total : std::nullopt;
  if (total == asked.offset_bytes && (!asked.size_bytes || total == asked.size_bytes)) {
    return complete(*total);
  }
  if (asked.offset_bytes == 0) return start_over("server answered 416 to a range from the start");
  return changed("server answered 416: the file is shorter than what was fetched before");
}

std::string size_problem(std::uint64_t offered, std::uint64_t wanted) {
  return fmt::format("server offers {} bytes where {} are expected", offered, wanted);
}

std::string size_hint(const Answer& answer) {
  return answer.content_type.starts_with("text/html")
             ? "the answer is a web page: a login may be needed, or the file has moved"
             : "the file has changed, or the document's size is wrong";
}

/// The body's place within the file, told by Content-Range.
Judgement judge_range(const Asked& asked, const Answer& answer) {
  const ContentRange& range = *answer.range;
  const auto offset = asked.offset_bytes;
  // Whoever answers a range with nonsense may still have the whole.
  const auto wrong = [&](const char* problem) {
    return asked.is_range() ? start_over(problem) : refuse(problem);
  };
  if (range.unsatisfied) return wrong("server sent a Content-Range without a range");
  if (answer.content_length && *answer.content_length != range.size()) {
    return wrong("server's Content-Length contradicts its Content-Range");
  }
  const auto total = range.total ? range.total : asked.size_bytes;
  if (!asked.is_range()) {
    if (range.begin != 0 || range.size() == 0 || !total) {
      return refuse("server sent a part of the file where the whole was asked");
    }
  } else {
    if (!total) return start_over("server does not tell the size of the file");
    if (range.begin > offset) return start_over("server sent another part than was asked");
    if ((range.begin > 0 || asked.continues) && !asked.is_same(answer.validators)) {
      return changed("the file has changed while it was fetched");
    }
    if (range.size() == 0 && range.begin == offset && total == offset) return complete(offset);
    if (range.end <= offset) return start_over("server sent another part than was asked");
  }
  Judgement judgement;
  judgement.step = Step::take;
  judgement.begin_bytes = range.begin;
  judgement.end_bytes = range.end;
  judgement.size_bytes = total;
  return judgement;
}

Judgement judge_whole(const Asked& asked, const Answer& answer) {
  Judgement judgement;
  judgement.step = Step::take;
  judgement.end_bytes = answer.content_length;
  judgement.size_bytes = answer.content_length ? answer.content_length : asked.size_bytes;
  return judgement;
}

}  // namespace

Judgement judge(const Asked& asked, const Answer& answer) {
  if (answer.status == 416) return judge_unsatisfied(asked, answer);
  if (answer.status == 412) return changed("the file has changed while it was fetched");
  if (answer.status == 304 && !asked.unless_it_is.unless_line().empty()) {
    return {.step = Step::unchanged};
  }
  if (answer.status != 200 && answer.status != 206) return {.step = Step::failed};
  if (!answer.malformed.empty()) return refuse(answer.malformed);
  // Several parts, each with a header of its own: one was asked for.
  const bool is_multipart = answer.content_type.starts_with("multipart/byteranges");
  if (answer.status == 206 && (!answer.range || is_multipart)) {
    const std::string problem = "server answered 206 without a usable Content-Range";
    return asked.is_range() ? start_over(problem) : refuse(problem);
  }
  // Some servers answer a range with 200 and a Content-Range; then the latter is the truth.
  Judgement judgement = answer.range ? judge_range(asked, answer) : judge_whole(asked, answer);
  if (judgement.step != Step::take) return judgement;
  if (asked.size_bytes && judgement.size_bytes != asked.size_bytes) {
    return refuse(size_problem(*judgement.size_bytes, *asked.size_bytes), size_hint(answer));
  }
  // Servers that map .gz to a Content-Encoding send the very file: then its size is the
  // document's. Any other encoded body is of unknown size and no file of ours.
  const bool encoded = !answer.content_encoding.empty() && answer.content_encoding != "identity";
  const bool size_is_announced = answer.range || answer.content_length;
  if (encoded && !(asked.size_bytes && size_is_announced)) {
    return refuse(fmt::format("server sent the body with Content-Encoding {}, which was not asked",
                              answer.content_encoding),
                  "if the file itself is compressed, state its size in the document");
  }
  return judgement;
}

}  // namespace sabath::fetch
