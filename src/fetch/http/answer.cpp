#include "answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace sabath::fetch {

namespace {

Judgement refuse(std::string problem, std::string hint = {}) {
  return {.step = Step::refuse,
          .failure = {.problem = std::move(problem), .hint = std::move(hint)}};
}

/// If the second answer is not better, another attempt may find the server at rest.
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
  return {.step = Step::complete, .size_bytes = size_bytes};
}

/// 416 answers a complete partial, and a partial that is longer than the file: the total
/// distinguishes them.
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

/// Reads the place of the body in the file from Content-Range.
Judgement judge_range(const Asked& asked, const Answer& answer) {
  const ContentRange& range = *answer.range;
  const auto offset = asked.offset_bytes;
  // A server with a wrong range may still have the whole file.
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
      return refuse("server sent a part of the file, the whole was requested");
    }
  } else {
    if (!total) return start_over("server does not state the size of the file");
    if (range.begin > offset) return start_over("server sent a part that was not requested");
    if ((range.begin > 0 || asked.continues) && !asked.is_same(answer.validators)) {
      return changed("the file has changed while it was fetched");
    }
    if (range.size() == 0 && range.begin == offset && total == offset) return complete(offset);
    if (range.end <= offset) return start_over("server sent a part that was not requested");
  }
  return {
      .step = Step::take, .begin_bytes = range.begin, .end_bytes = range.end, .size_bytes = total};
}

Judgement judge_whole(const Asked& asked, const Answer& answer) {
  return {.step = Step::take,
          .end_bytes = answer.content_length,
          .size_bytes = answer.content_length ? answer.content_length : asked.size_bytes};
}

/// Removes the digits at the beginning of `text`. Returns nothing for none or too many.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value == std::numeric_limits<std::uint64_t>::max()) return {};
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// RFC 9110, section 8.8.3.
bool is_entity_tag(std::string_view text) {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  text = text.substr(1, text.size() - 2);
  return std::ranges::all_of(text,
                             [](unsigned char c) { return c > 0x20 && c != '"' && c != 0x7f; });
}

bool is_one_line(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
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
  // Some servers answer a range with 200 and a Content-Range, which counts then.
  Judgement judgement = answer.range ? judge_range(asked, answer) : judge_whole(asked, answer);
  if (judgement.step != Step::take) return judgement;
  if (asked.size_bytes && judgement.size_bytes != asked.size_bytes) {
    return refuse(size_problem(*judgement.size_bytes, *asked.size_bytes), size_hint(answer));
  }
  // Servers that map .gz to a Content-Encoding send the file unchanged: its size is the document's.
  // The size of any other encoded body is unknown.
  const bool encoded = !answer.content_encoding.empty() && answer.content_encoding != "identity";
  const bool size_is_announced = answer.range || answer.content_length;
  if (encoded && !(asked.size_bytes && size_is_announced)) {
    return refuse(
        fmt::format("server sent the body with Content-Encoding {}, which was not requested",
                    answer.content_encoding),
        "if the file itself is compressed, state its size in the document");
  }
  return judgement;
}

std::optional<ContentRange> parse_content_range(std::string_view text) {
  ContentRange range;
  if (!take(text, "bytes ")) return {};
  if (take(text, "*/")) {
    range.total = take_number(text);
    range.unsatisfied = true;
    return range.total && text.empty() ? std::optional(range) : std::nullopt;
  }
  const auto first = take_number(text);
  if (!first || !take(text, "-")) return {};
  const auto last = take_number(text);
  if (!last || *last + 1 < *first || !take(text, "/")) return {};
  range.begin = *first;
  range.end = *last + 1;
  if (text == "*") return range;
  range.total = take_number(text);
  if (!range.total || !text.empty() || *range.total < range.end) return {};
  return range;
}

std::string Validators::unless_line() const {
  if (is_entity_tag(etag)) return "If-None-Match: " + etag;
  if (last_modified.empty() || !is_one_line(last_modified)) return {};
  return "If-Modified-Since: " + last_modified;
}

}  // namespace sabath::fetch
