#include "answer_handler.hpp"

#include "assignment.hpp"
#include "attempt.hpp"
#include "http/http_status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sabath::fetch {
namespace {

using namespace std::chrono_literals;

/// A source that brought so much since its last failure counts its failures anew.
constexpr std::uint64_t mirror_progress_bytes = 1U << 20U;
/// Silence that ends a connection when others could do its work.
constexpr std::chrono::nanoseconds bearable_silence = 5s;

bool is_throttle(const Worker& worker) {
  return worker.answer && (worker.answer->status == 429 || worker.answer->status == 503);
}

/// Returns the usual response time, which falls at once and grows slowly. A late answer often
/// waited here, while other connections were served.
std::chrono::nanoseconds usual_response(std::chrono::nanoseconds before,
                                        std::chrono::nanoseconds newest) {
  constexpr int memory = 16;
  if (before <= std::chrono::nanoseconds(0) || newest < before) return newest;
  return before + (newest - before) / memory;
}

/// Returns the mean of the old and the new measure.
double blend(double before, double newest) {
  return before > 0 ? (before + newest) / 2 : newest;
}

/// Shorter ranges give no reliable rate.
constexpr std::uint64_t least_measured_bytes = 128U << 10U;

void misfit(Worker& worker, std::string problem, bool changed) {
  worker.judgement.step = Step::start_over;
  worker.judgement.changed = changed;
  worker.judgement.failure = {.problem = std::move(problem), .retryable = true};
}

/// A redirect often ends at a signed URL. After its expiry the original URL gives a new one.
bool may_be_an_expired_signature(const Worker& worker) {
  const int status = worker.answer->status;
  return (worker.from_resolved || worker.stream.was_redirected()) &&
         (status == 400 || status == 401 || status == 403);
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
  const bool came_nearer = mirror.new_bytes >= mirror_progress_bytes;
  mirror.failures = came_nearer ? 1 : mirror.failures + 1;
  mirror.new_bytes = 0;
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
    const bool is_stalled = silence >= bearable_silence && others_could_do_it(worker, now);
    if (!is_stuck && !is_stalled) continue;
    worker.is_cancelled = true;
    worker.stream.rethrow();
    Failure failure = worker.stream.stuck_failure();
    if (!is_stuck) {
      failure.problem =
          fmt::format("server was silent for {} s",
                      std::chrono::duration_cast<std::chrono::seconds>(bearable_silence).count());
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

bool AnswerHandler::accept(Worker& worker, const Answer& answer) {
  Mirror& mirror = *worker.mirror;
  const bool is_whole = !answer.range;
  if (is_whole && !accept_whole(worker, answer)) return false;
  if (!accept_size(worker)) return false;
  const auto& judgement = worker.judgement;
  const bool is_part = judgement.end_bytes && judgement.end_bytes != judgement.size_bytes;
  if (is_part && worker.asked.is_range() && !state_.is_proved_later() &&
      !answer.validators.can_prove()) {
    misfit(worker, "server sends no version with its parts", false);
    return false;
  }
  bind(worker, answer);
  if (judgement.size_bytes) state_.learn_size(*judgement.size_bytes);
  if (worker.asked.is_range() && !is_whole) {
    mirror.ranges = Ranges::served;
    mirror.host->tuner.start();
    // Other connections fetch the rest.
    const std::uint64_t begin = worker.range.begin;
    if (!worker.asked.end_bytes && mirror.is_bound &&
        worker.rest().size() > 2 * first_range_bytes) {
      worker.range.end = begin + first_range_bytes;
    }
  }
  if (worker.stream.was_redirected()) mirror.redirects = true;
  if (worker.stream.was_redirected() && mirror.ranges == Ranges::served) {
    mirror.resolved = worker.stream.place().copy();
  }
  if (worker.resolves) mirror.is_resolving = worker.resolves = false;
  mirror.may_resolve_again = true;
  mirror.response = usual_response(mirror.response, worker.stream.response_time());
  return true;
}

/// Judges an answer that has the file from its first byte, for any request.
bool AnswerHandler::accept_whole(Worker& worker, const Answer& answer) {
  Mirror& mirror = *worker.mirror;
  const bool is_same = !worker.asked.continues || worker.asked.is_same(answer.validators);
  if (!is_same) {
    if (++mirror.misfits > 2) {
      misfit(worker, "the file changes again and again", true);
      return false;
    }
    state_.forget_version(mirror);
    worker.is_cancelled = false;
  }
  if (!worker.asked.is_range()) return true;
  const bool others_serve = std::ranges::any_of(state_.mirrors, [&](const Mirror& each) {
    return &each != &mirror && each.is_alive() && each.ranges == Ranges::served;
  });
  if (others_serve && state_.is_proved_later()) {
    misfit(worker, "server does not serve parts of the file", false);
    return false;
  }
  mirror.ranges = Ranges::not_served;
  state_.cancel_all(nullptr, &worker);
  if (mirror.is_bound || state_.is_proved_later())
    note_start_over(
        mirror.name, state_.there.bytes(), "the source serves no parts", state_.tools.observer);
  worker.range = {0, Coverage::endless};
  return true;
}

bool AnswerHandler::accept_size(Worker& worker) {
  auto& judgement = worker.judgement;
  if (!state_.size || !judgement.size_bytes || state_.size == judgement.size_bytes) return true;
  const std::string problem = fmt::format(
      "server offers {} bytes where {} are expected", *judgement.size_bytes, *state_.size);
  if (worker.mirror->is_bound) {
    misfit(worker, problem, true);
  } else if (state_.is_proved_later()) {
    judgement.step = Step::refuse;
    judgement.failure = {.problem = problem, .hint = "it has another version of the file"};
  } else {
    state_.size.reset();  // of another source, whose bytes are dropped too
    return true;
  }
  return false;
}

void AnswerHandler::bind(Worker& worker, const Answer& answer) {
  Mirror& mirror = *worker.mirror;
  if (mirror.is_bound) return;
  if (!state_.is_proved_later() && state_.there.bytes() > 0) {
    note_start_over(mirror.name, state_.there.bytes(), no_version, state_.tools.observer);
    state_.start_over();
  }
  mirror.validators = answer.validators;
  mirror.number =
      state_.to.number_of({mirror.name, answer.validators.etag, answer.validators.last_modified});
  state_.read_present();  // without bytes of another version of this source
  mirror.is_bound = state_.is_proved_later() || answer.validators.can_prove();
}

void AnswerHandler::settle(Worker& worker, CURLcode code) {
  const auto ending = worker.stream.finish(code);
  if (ending == HttpStream::Ending::elsewhere) {
    state_.tools.loop.add(worker.stream.handle());
    return;
  }
  worker.mirror->effective = worker.stream.place().displayed;
  if (worker.answer) state_.tools.reachability.answered(host_key(worker.stream.place()));
  if (!worker.is_cancelled) settle_answer(worker, ending == HttpStream::Ending::clean);
  state_.release(worker);
}

void AnswerHandler::settle_answer(Worker& worker, bool is_clean) {
  const Judgement& judgement = worker.judgement;
  if (!worker.answer) {
    worker.mirror->resolved.reset();
    failures_.fail(worker, worker.stream.failure());
    return;
  }
  switch (judgement.step) {
    case Step::take:
      settle_body(worker, is_clean);
      break;
    case Step::complete:
      if (state_.there.bytes() == *judgement.size_bytes) {
        state_.learn_size(*judgement.size_bytes);
      } else {
        misfit(worker, "server states that the file ends before the missing bytes", true);
        settle_misfit(worker);
      }
      break;
    case Step::unchanged:  // was not requested: as any other status
    case Step::failed:
      settle_status(worker);
      break;
    case Step::refuse:
      failures_.fail(worker, judgement.failure);
      break;
    case Step::start_over:
      settle_misfit(worker);
      break;
  }
}

void AnswerHandler::settle_status(Worker& worker) {
  Mirror& mirror = *worker.mirror;
  if (may_be_an_expired_signature(worker) && (worker.from_resolved || mirror.may_resolve_again)) {
    if (!worker.from_resolved) mirror.may_resolve_again = false;
    mirror.resolved.reset();
    return;
  }
  failures_.fail(worker, status_failure(*worker.answer, worker.error_body));
}

/// Handles an answer that does not fit the present bytes, or unusable ranges.
void AnswerHandler::settle_misfit(Worker& worker) {
  Mirror& mirror = *worker.mirror;
  Failure failure = worker.judgement.failure;
  const bool never_fitted = worker.judgement.changed && !mirror.is_bound;
  if (worker.judgement.changed) {
    state_.forget_version(mirror);
  } else {
    mirror.ranges = Ranges::not_served;
  }
  if (never_fitted) failure.retryable = false;
  if (never_fitted || ++mirror.misfits > 1) failures_.fail(worker, failure);
}

void AnswerHandler::settle_body(Worker& worker, bool is_clean) {
  Mirror& mirror = *worker.mirror;
  const Judgement& judgement = worker.judgement;
  if (worker.sent_too_much) {
    const auto limit = judgement.end_bytes ? judgement.end_bytes : judgement.size_bytes;
    state_.forget_version(mirror);
    failures_.fail(
        worker,
        {.problem = fmt::format("server sends more than the {} bytes that are expected", *limit),
         .hint = "the file has changed, or the document's size is wrong"});
    return;
  }
  if (worker.is_done()) {
    succeeded(worker);
    return;
  }
  if (is_clean && !(judgement.end_bytes && worker.position < *judgement.end_bytes)) {
    settle_end(worker);
    return;
  }
  Failure failure = worker.stream.failure();
  if (is_clean) failure = {.problem = "the connection was closed", .retryable = true};
  const auto size = state_.known_size();
  if (size) failure.problem += fmt::format(" after {} of {} bytes", state_.there.bytes(), *size);
  failures_.fail(worker, failure);
}

/// Handles a body that ended correctly, but before the end of the range.
void AnswerHandler::settle_end(Worker& worker) {
  const auto& size = worker.judgement.size_bytes;
  if (!size) {
    if (!worker.answer->end_is_marked) {
      state_.tools.observer.warn(worker.mirror->source.displayed +
                                     ": server does not state the size; a cut would go unnoticed",
                                 "state size and sha256 in the document");
    }
    state_.learn_size(worker.position);
    succeeded(worker);
    return;
  }
  if (worker.answer->range && worker.asked.is_range()) {
    succeeded(worker);  // so far; the rest is requested again
    return;
  }
  if (worker.answer->range) {
    failures_.fail(worker, {.problem = "server sent a part of the file, the whole was requested"});
    return;
  }
  Failure failure{
      .problem = fmt::format("server sent {} bytes where {} are expected", worker.position, *size),
      .retryable = true};
  if (worker.answer->end_is_marked) {
    state_.forget_version(*worker.mirror);
    failure.retryable = false;
    failure.hint = "the file has changed, or the answer is another page";
  }
  failures_.fail(worker, failure);
}

void AnswerHandler::succeeded(Worker& worker) {
  const std::chrono::duration<double> took = state_.tools.clock.steady() - worker.first_byte;
  if (worker.received >= least_measured_bytes && took.count() > 0) {
    worker.mirror->rate =
        blend(worker.mirror->rate, static_cast<double>(worker.received) / took.count());
  }
}

}  // namespace sabath::fetch
