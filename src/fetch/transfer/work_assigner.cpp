#include "work_assigner.hpp"

#include "assignment.hpp"

#include <algorithm>

namespace sabath::fetch {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t usual_piece_bytes = 1U << 20U;
/// Age below which a connection is not judged by its rate.
constexpr std::chrono::nanoseconds fresh = 500ms;
/// Bytes below which a connection counts as one that delivered nothing.
constexpr double unnoticed_bytes = 64 << 10;

/// Returns the expected work of a connection. One that delivers nothing for longer than others need
/// to begin is slower: a busy server lets some connections wait.
InUse expected_of(const Worker& worker, base::SteadyTime now) {
  InUse expected{worker.rest(), worker.rate() > 0 ? worker.rate() : worker.mirror->rate, false};
  if (worker.rate() > 0) return expected;
  const auto age = now - worker.started;
  if (age < std::max(fresh, 4 * worker.mirror->response)) {
    expected.is_fresh = expected.rate <= 0;
  } else {
    const double seconds = std::chrono::duration<double>(age).count();
    expected.rate = std::min(expected.rate, unnoticed_bytes / seconds);
  }
  return expected;
}

}  // namespace

bool WorkAssigner::may_ask(const Mirror& mirror, base::SteadyTime now) const {
  if (!mirror.is_alive() || mirror.is_resolving) return false;
  if (now < mirror.embargo || now < mirror.host->embargo) return false;
  if (mirror.ranges != Ranges::served && mirror.connections > 0) return false;
  if (state_.active_on(*mirror.host) >= mirror.host->tuner.target()) return false;
  if (state_.is_proved_later()) return true;
  // Without a digest, versions of two sources cannot be compared: one source at a time.
  const auto first =
      std::ranges::find_if(state_.mirrors, [](const Mirror& each) { return each.is_alive(); });
  return &*first == &mirror;
}

std::optional<base::ByteRange> WorkAssigner::next_range(const Mirror& mirror) {
  const auto size = state_.known_size();
  const bool continues = mirror.is_bound || state_.is_proved_later();
  if (size && continues && mirror.ranges != Ranges::not_served) return next_share(mirror, *size);
  if (!state_.active_workers().empty()) return {};
  if (mirror.ranges == Ranges::not_served)
    return base::ByteRange{0, size.value_or(Coverage::endless)};
  const std::uint64_t begin = continues ? state_.there.first_missing(0) : 0;
  // The size is unknown: some servers refuse an end beyond the file's.
  return base::ByteRange{
      begin, size.value_or(0) > 0 ? std::min(begin + first_range_bytes, *size) : Coverage::endless};
}

std::optional<base::ByteRange> WorkAssigner::next_share(const Mirror& mirror,
                                                        std::uint64_t size_bytes) {
  const auto active = state_.active_workers();
  const auto now = state_.tools.clock.steady();
  std::vector<InUse> in_use;
  for (Worker* const worker : active) {
    worker->measure(now);
    in_use.push_back(expected_of(*worker, now));
  }
  const std::uint64_t piece = state_.size ? state_.to.piece_bytes() : usual_piece_bytes;
  const Applicant applicant{mirror.rate, std::chrono::duration<double>(mirror.response).count()};
  const auto share = assign(state_.there, size_bytes, piece, in_use, applicant);
  if (!share) return {};
  if (share->from) {
    Worker& victim = *active[*share->from];
    victim.range.end = share->range.begin;
    if (victim.is_done()) victim.is_cancelled = true;
  }
  return share->range;
}

Worker& WorkAssigner::idle_worker() {
  // A worker that has delivered has an open connection.
  const auto idle = std::ranges::max_element(state_.workers, [](const auto& a, const auto& b) {
    return (!a->is_active) + (!a->is_active && a->has_delivered) <
           (!b->is_active) + (!b->is_active && b->has_delivered);
  });
  if (idle != state_.workers.end() && !(*idle)->is_active) return **idle;
  state_.workers.push_back(std::make_unique<Worker>(
      state_.tools.options, state_.tools.clock, state_.to, state_.there, accept_));
  return *state_.workers.back();
}

void WorkAssigner::start(Mirror& mirror, base::ByteRange range) {
  Asked asked{.size_bytes = state_.request.size_bytes,
              .continues = mirror.is_bound,
              .is_proved_later = state_.is_proved_later()};
  if (state_.is_proved_later() && state_.size) asked.size_bytes = state_.size;
  if (mirror.is_bound) asked.validators = mirror.validators;
  if (mirror.ranges != Ranges::not_served &&
      (range.begin > 0 || range.end != state_.known_size())) {
    asked.offset_bytes = range.begin;
    asked.from_start = true;
    if (range.end != Coverage::endless) asked.end_bytes = range.end;
  }
  Worker& worker = idle_worker();
  worker.start(mirror, asked, range);
  state_.tools.loop.add(worker.stream.handle());
}

void WorkAssigner::assign_work() {
  const auto now = state_.tools.clock.steady();
  for (bool gave = true; gave;) {
    gave = false;
    for (Mirror& mirror : state_.mirrors) {
      if (state_.is_complete() || !may_ask(mirror, now)) continue;
      const auto range = next_range(mirror);
      if (!range) continue;
      start(mirror, *range);
      gave = true;
    }
  }
  for (const auto& worker : state_.workers)
    worker->has_delivered = worker->has_delivered && worker->is_active;
}

void WorkAssigner::tune_connections(std::chrono::nanoseconds waited) {
  bool grew = false;
  for (Host& host : state_.hosts) {
    unsigned active = 0;
    unsigned delivered = 0;
    std::chrono::nanoseconds response{0};
    for (const auto& worker : state_.workers) {
      if (!worker->is_active || worker->mirror->host != &host) continue;
      ++active;
      if (worker->has_delivered) ++delivered;
      response = std::max(response, worker->mirror->response);
    }
    const unsigned before = host.tuner.target();
    host.tuner.observe(
        state_.tools.clock.steady(), host.bytes, active, delivered, response, waited);
    grew = grew || host.tuner.target() > before;
  }
  if (grew) assign_work();
}

}  // namespace sabath::fetch
