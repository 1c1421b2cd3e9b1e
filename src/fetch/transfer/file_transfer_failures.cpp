#include "attempt.hpp"
#include "backoff.hpp"
#include "file_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sabath::fetch {

namespace {

using namespace std::chrono_literals;

/// An attempt that brought the file nearer by so much did not fail in vain.
constexpr std::uint64_t mirror_progress_bytes = 1U << 20U;
/// So long a connection may be silent when others could do its work.
constexpr std::chrono::nanoseconds patience = 5s;

bool is_throttle(const Worker& worker) {
  return worker.answer && (worker.answer->status == 429 || worker.answer->status == 503);
}

}  // namespace

/// Others of the same host go on: it serves so many at a time and no more.
bool FileTransfer::host_bears_no_more(const Worker& worker, const Failure& failure) const {
  if (!failure.retryable || worker.is_accepted) return false;
  const auto active = active_workers();
  return std::any_of(active.begin(), active.end(), [&](const Worker* other) {
    return other != &worker && other->mirror->host == worker.mirror->host && other->is_accepted;
  });
}

void FileTransfer::fail(Worker& worker, const Failure& failure) {
  Mirror& mirror = *worker.mirror;
  Host& host = *mirror.host;
  const auto now = tools_.clock.steady();
  if (worker.resolves) mirror.is_resolving = worker.resolves = false;
  const bool bears_no_more = host_bears_no_more(worker, failure);
  if (bears_no_more || is_throttle(worker)) host.climb.throttle(now, active_on(host));
  if (bears_no_more && failure.retry_after <= request_.retries.longest_wait) {
    host.embargo = std::max(host.embargo, now + failure.retry_after);
    return;
  }
  if (!mirror.is_alive()) return;
  if (!failure.retryable) {
    give_up(mirror, failure);
    return;
  }
  if (now < mirror.embargo) return;  // the same trouble, on another connection
  const bool came_nearer = mirror.bytes >= mirror.bytes_at_failure + mirror_progress_bytes;
  mirror.failures = came_nearer ? 1 : mirror.failures + 1;
  mirror.bytes_at_failure = mirror.bytes;
  const bool is_hopeless = tools_.reachability.verdict(failure.unreachable).has_value();
  if (mirror.failures >= request_.retries.attempts || is_hopeless) {
    Failure last = failure;
    if (!failure.unreachable.empty() && mirror.failures > 1)
      last.problem += fmt::format(" ({} attempts)", mirror.failures);
    give_up(mirror, last);
    return;
  }
  if (failure.retry_after > request_.retries.longest_wait) {
    Failure too_long = failure;
    too_long.problem +=
        fmt::format(" and asks to wait for {}", base::format_duration(failure.retry_after));
    give_up(mirror, too_long);
    return;
  }
  const auto delay = backoff(request_.retries, mirror.failures, failure.retry_after, random_);
  mirror.embargo = now + delay;
  if (is_throttle(worker)) host.embargo = std::max(host.embargo, now + failure.retry_after);
  if (!tools_.reachability.is_news(failure)) return;
  tools_.observer.note(fmt::format(
      "{}: {}; trying again in {}", mirror.name, failure.problem, base::format_duration(delay)));
}

void FileTransfer::give_up(Mirror& mirror, const Failure& failure) {
  mirror.final_failure = failure;
  tools_.reachability.gave_up(failure);
  cancel_all(&mirror);
  const bool others = std::any_of(
      mirrors_.begin(), mirrors_.end(), [](const Mirror& each) { return each.is_alive(); });
  if (others) {
    tools_.observer.warn(
        fmt::format("{}: {}; going on without this source", mirror.name, failure.problem),
        failure.hint);
  }
}

bool FileTransfer::others_could_do_it(const Worker& worker, base::SteadyTime now) const {
  const auto active = active_workers();
  const bool others_deliver = std::any_of(active.begin(), active.end(), [&](const Worker* other) {
    return other != &worker && other->is_accepted && now - other->exchange.last_sign() < 1s;
  });
  return others_deliver || (is_proved_later() &&
                            std::any_of(mirrors_.begin(), mirrors_.end(), [&](const Mirror& each) {
                              return &each != worker.mirror && each.is_alive() &&
                                     each.connections == 0 && now >= each.embargo;
                            }));
}

void FileTransfer::look_for_silence() {
  const auto now = tools_.clock.steady();
  for (const auto& each : workers_) {
    Worker& worker = *each;
    if (!worker.is_active || worker.is_cancelled) continue;
    const auto silence = now - worker.exchange.last_sign();
    const bool is_stuck = worker.exchange.is_stuck();
    const bool is_stalled = silence >= patience && others_could_do_it(worker, now);
    if (!is_stuck && !is_stalled) continue;
    worker.is_cancelled = true;
    worker.exchange.rethrow();
    Failure failure = worker.exchange.stuck_failure();
    if (!is_stuck) {
      failure.problem =
          fmt::format("server was silent for {} s",
                      std::chrono::duration_cast<std::chrono::seconds>(patience).count());
    }
    if (worker.is_accepted && known_size()) {
      failure.problem += fmt::format(" after {} of {} bytes", there_.bytes(), *known_size());
    }
    const bool mirror_delivers =
        std::any_of(workers_.begin(), workers_.end(), [&](const auto& other) {
          return other->is_active && !other->is_cancelled && other->mirror == worker.mirror &&
                 other->is_accepted && now - other->exchange.last_sign() < 1s;
        });
    if (!mirror_delivers) fail(worker, failure);
  }
}

void FileTransfer::put_problems(Outcome& outcome) const {
  struct Part {
    std::string place;
    std::string effective;
    const Failure* failure;
  };
  std::vector<Part> parts;
  for (const Mirror& mirror : mirrors_) {
    parts.push_back({mirror.source.displayed, mirror.effective, &*mirror.final_failure});
  }
  for (const auto& [url, failure] : malformed_)
    parts.push_back({displayed_url(url), {}, &failure});
  outcome.not_found = !parts.empty();
  for (const Part& part : parts) {
    const Failure& failure = *part.failure;
    std::string text = failure.problem;
    if (parts.size() > 1) {
      const bool was_elsewhere = !part.effective.empty() && part.effective != part.place;
      text = part.place + ": " + text;
      if (was_elsewhere) text += fmt::format(" (after a redirect to {})", part.effective);
    }
    outcome.problem += (outcome.problem.empty() ? "" : "; ") + text;
    if (outcome.hint.empty()) outcome.hint = failure.hint;
    outcome.retryable = outcome.retryable || failure.retryable;
    outcome.not_found = outcome.not_found && failure.not_found;
    outcome.access_needed = outcome.access_needed || failure.access_needed;
    add_unreachable(outcome.unreachable, &part == parts.data(), failure.unreachable);
    outcome.retry_after = std::max(outcome.retry_after, failure.retry_after);
  }
}

Outcome FileTransfer::outcome() const {
  if (mirrors_.empty()) {
    return failed_outcome(malformed_.front().first, malformed_.front().second);
  }
  Outcome outcome;
  outcome.ok = is_complete();
  outcome.transferred = transferred_;
  for (const auto& worker : workers_)
    outcome.transferred += worker->received;
  const Mirror* best = &mirrors_.front();
  for (const Mirror& mirror : mirrors_) {
    const bool is_better = outcome.ok ? mirror.bytes > best->bytes : true;
    if (is_better) best = &mirror;
  }
  outcome.url = best->source.plain;
  outcome.effective_url = best->effective.empty() ? best->source.displayed : best->effective;
  outcome.etag = best->validators.etag;
  outcome.last_modified = best->validators.last_modified;
  if (outcome.ok) {
    outcome.bytes = *size_;
  } else {
    put_problems(outcome);
  }
  return outcome;
}

}  // namespace sabath::fetch
