#include "transfer_state.hpp"

#include "attempt.hpp"

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
  const std::uint64_t before = there_.most_bytes();
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
  mirror->new_bytes += there_.most_bytes() - before;
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

TransferState::~TransferState() {
  for (const auto& worker : workers) {
    if (worker->is_active) tools.loop.remove(worker->stream.handle());
  }
}

bool TransferState::has_live_mirror() const {
  return std::ranges::any_of(mirrors, [](const Mirror& mirror) { return mirror.is_alive(); });
}

void TransferState::read_present() {
  there.clear();
  for (const base::SourcedRange& part : to.present())
    there.add(part.range);
}

std::vector<Worker*> TransferState::active_workers() const {
  std::vector<Worker*> active;
  for (const auto& worker : workers) {
    if (worker->is_active && !worker->is_cancelled) active.push_back(worker.get());
  }
  return active;
}

unsigned TransferState::active_on(const Host& host) const {
  return static_cast<unsigned>(std::ranges::count_if(workers, [&](const auto& worker) {
    return worker->is_active && worker->mirror->host == &host;
  }));
}

void TransferState::learn_size(std::uint64_t size_bytes) {
  if (!size) {
    size = size_bytes;
    to.reserve(size_bytes);
  }
  for (Worker* const worker : active_workers())
    worker->range.end = std::min(worker->range.end, size_bytes);
}

void TransferState::start_over() {
  to.restart();
  there.clear();
  size.reset();
  for (Mirror& mirror : mirrors) {
    mirror.is_bound = false;
    mirror.validators = {};
  }
}

void TransferState::forget_version(Mirror& mirror) {
  const bool gave_bytes = mirror.is_bound;
  mirror.is_bound = false;
  mirror.validators = {};
  if (!is_proved_later()) {
    cancel_all(nullptr);
    note_start_over(
        mirror.name, there.bytes(), "the file has changed at the source", tools.observer);
    start_over();
    return;
  }
  cancel_all(&mirror);
  for (const base::SourcedRange& part : to.present()) {
    if (gave_bytes && part.source == mirror.number) to.drop(part.range);
  }
  read_present();
  const bool is_known_otherwise =
      std::ranges::any_of(mirrors, [](const Mirror& each) { return each.is_bound; });
  if (!is_known_otherwise && there.bytes() == 0) size.reset();
}

void TransferState::cancel_all(const Mirror* mirror, const Worker* except) {
  for (const auto& worker : workers) {
    const bool is_meant = mirror == nullptr || worker->mirror == mirror;
    if (worker->is_active && is_meant && worker.get() != except) worker->is_cancelled = true;
  }
}

void TransferState::release(Worker& worker) {
  transferred += worker.received;
  worker.received = 0;
  worker.is_active = false;
  --worker.mirror->connections;
  if (worker.resolves) worker.mirror->is_resolving = false;
}

}  // namespace sabath::fetch
