#include "worker.hpp"

#include <algorithm>

namespace sabath::fetch {

namespace {

constexpr std::chrono::milliseconds shortest_measure(20);
/// Weight of the newest measure.
constexpr double newest_share = 0.5;

}  // namespace

void Worker::start(Mirror& from, const Asked& what, base::ByteRange wanted) {
  mirror = &from;
  asked = what;
  range = wanted;
  position = wanted.begin;
  is_active = true;
  is_cancelled = false;
  answer.reset();
  judgement = {};
  is_accepted = false;
  sent_too_much = false;
  error_body.clear();
  received = 0;
  started = clock_.steady();
  measured_ = started;
  measured_bytes_ = 0;
  rate_ = 0;
  from_resolved = from.resolved.has_value();
  resolves = from.redirects && !from_resolved;
  if (resolves) from.is_resolving = true;
  ++from.connections;
  stream.prepare(from.place(), asked, *this);
}

void Worker::begin(const Answer& what) {
  answer = what;
  judgement = judge(asked, what);
  first_byte = clock_.steady();
  measured_ = first_byte;
  if (judgement.step != Step::take || is_cancelled) return;
  position = judgement.begin_bytes;
  is_accepted = accept_(*this, what);
}

bool Worker::take(base::ByteView bytes) {
  received += bytes.size();
  if (judgement.step == Step::failed) {
    return keep_error_body(error_body, bytes);
  }
  if (!is_accepted || is_cancelled) return false;
  const auto body_end = judgement.end_bytes ? judgement.end_bytes : judgement.size_bytes;
  if (body_end && bytes.size() > *body_end - position) {
    sent_too_much = true;
    return false;
  }
  has_delivered = true;
  mirror->bytes += bytes.size();
  mirror->host->bytes += bytes.size();
  put(bytes);
  // If the body ends here too, the connection can be reused.
  return position < range.end || position == body_end;
}

void Worker::put(base::ByteView bytes) {
  const std::uint64_t end = position + bytes.size();
  std::uint64_t from = std::max(position, range.begin);
  const std::uint64_t until = std::min(end, range.end);
  while (from < until) {
    from = there_.first_missing(from);
    const std::uint64_t to = std::min(until, there_.first_present(from));
    if (from >= to) break;
    const auto part = bytes.subspan(static_cast<std::size_t>(from - position),
                                    static_cast<std::size_t>(to - from));
    to_.write_at(from, part, mirror->number);
    there_.add({from, to});
    from = to;
  }
  position = end;
}

void Worker::measure(base::SteadyTime now) {
  const auto took = now - measured_;
  if (took < shortest_measure || !is_accepted) return;
  const double seconds = std::chrono::duration<double>(took).count();
  const double newest = static_cast<double>(received - measured_bytes_) / seconds;
  rate_ = measured_bytes_ == 0 ? newest : newest_share * newest + (1 - newest_share) * rate_;
  measured_ = now;
  measured_bytes_ = received;
}

}  // namespace sabath::fetch
