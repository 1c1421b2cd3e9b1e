#include "transfer_failures.hpp"

#include "attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sabath::fetch {

namespace {

using namespace std::chrono_literals;

/// A source that brought so much since its last failure counts its failures anew.
constexpr std::uint64_t mirror_progress_bytes = 1U << 20U;
/// Silence that ends a connection when others could do its work.
constexpr std::chrono::nanoseconds patience = 5s;

bool is_throttle(const Worker& worker) {
  return worker.answer && (worker.answer->status == 429 || worker.answer->status == 503);
}

}  // namespace

/// Do other connections to the host still work? Then it limits their number.
bool TransferFailures::host_bears_no_more(const Worker& worker, const Failure& failure) const {
  if (!failure.retryable || worker.is_accepted) return false;
  const auto active = state_.active_workers();
  return std::ranges::any_of(active, [&](const Worker* other) {
    return other != &worker && other->mirror->host == worker.mirror->host && other->is_accepted;
  });
}

void TransferFailures::fail(Worker& worker, const Failure& failure) {
  Mirror& mirror = *worker.mirror;
  Host& host = *mirror.host;
  const auto now = state_.tools.clock.steady();
  if (worker.resolves) mirror.is_resolving = worker.resolves = false;
  const bool bears_no_more = host_bears_no_more(worker, failure);
  if (bears_no_more || is_throttle(worker)) host.tuner.throttle(now, state_.active_on(host));
  if (bears_no_more && failure.retry_after <= state_.request.retries.longest_wait) {
    host.embargo = std::max(host.embargo, now + failure.retry_after);
    return;
  }
  if (!mirror.is_alive()) return;
  if (!failure.retryable) {
    give_up(mirror, failure);
    return;
  }
  if (now < mirror.embargo) return;  // the same failure on another connection
  const bool came_nearer = mirror.bytes >= mirror.bytes_at_failure + mirror_progress_bytes;
  mirror.failures = came_nearer ? 1 : mirror.failures + 1;
  mirror.bytes_at_failure = mirror.bytes;
  const bool is_hopeless = state_.tools.reachability.verdict(failure.unreachable).has_value();
  if (mirror.failures >= state_.request.retries.attempts || is_hopeless) {
    Failure last = failure;
    if (!failure.unreachable.empty() && mirror.failures > 1)
      last.problem += fmt::format(" ({} attempts)", mirror.failures);
    give_up(mirror, last);
    return;
  }
  if (failure.retry_after > state_.request.retries.longest_wait) {
    Failure too_long = failure;
    too_long.problem +=
        fmt::format(" and asks to wait for {}", base::format_duration(failure.retry_after));
    give_up(mirror, too_long);
    return;
  }
  const auto delay = backoff(state_.request.retries, mirror.failures, failure.retry_after, random_);
  mirror.embargo = now + delay;
  if (is_throttle(worker)) host.embargo = std::max(host.embargo, now + failure.retry_after);
  if (!state_.tools.reachability.is_news(failure)) return;
  state_.tools.observer.note(fmt::format(
      "{}: {}; trying again in {}", mirror.name, failure.problem, base::format_duration(delay)));
}

void TransferFailures::give_up(Mirror& mirror, const Failure& failure) {
  mirror.final_failure = failure;
  state_.tools.reachability.gave_up(failure);
  state_.cancel_all(&mirror);
  if (state_.has_live_mirror()) {
    state_.tools.observer.warn(
        fmt::format("{}: {}; continuing without this source", mirror.name, failure.problem),
        failure.hint);
  }
}

bool TransferFailures::others_could_do_it(const Worker& worker, base::SteadyTime now) const {
  const auto active = state_.active_workers();
  const bool others_deliver = std::ranges::any_of(active, [&](const Worker* other) {
    return other != &worker && other->is_accepted && now - other->stream.last_sign() < 1s;
  });
  return others_deliver ||
         (state_.is_proved_later() && std::ranges::any_of(state_.mirrors, [&](const Mirror& each) {
            return &each != worker.mirror && each.is_alive() && each.connections == 0 &&
                   now >= each.embargo;
          }));
}

void TransferFailures::look_for_silence() {
  const auto now = state_.tools.clock.steady();
  for (const auto& each : state_.workers) {
    Worker& worker = *each;
    if (!worker.is_active || worker.is_cancelled) continue;
    const auto silence = now - worker.stream.last_sign();
    const bool is_stuck = worker.stream.is_stuck();
    const bool is_stalled = silence >= patience && others_could_do_it(worker, now);
    if (!is_stuck && !is_stalled) continue;
    worker.is_cancelled = true;
    worker.stream.rethrow();
    Failure failure = worker.stream.stuck_failure();
    if (!is_stuck) {
      failure.problem =
          fmt::format("server was silent for {} s",
                      std::chrono::duration_cast<std::chrono::seconds>(patience).count());
    }
    if (worker.is_accepted && state_.known_size()) {
      failure.problem +=
          fmt::format(" after {} of {} bytes", state_.there.bytes(), *state_.known_size());
    }
    const bool mirror_delivers = std::ranges::any_of(state_.workers, [&](const auto& other) {
      return other->is_active && !other->is_cancelled && other->mirror == worker.mirror &&
             other->is_accepted && now - other->stream.last_sign() < 1s;
    });
    if (!mirror_delivers) fail(worker, failure);
  }
}

}  // namespace sabath::fetch
