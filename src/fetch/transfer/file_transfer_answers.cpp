#include "assignment.hpp"
#include "attempt.hpp"
#include "file_transfer.hpp"
#include "http/http_status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sabath::fetch {

namespace {

/// An old measure counts as much as the new one.
/// Falls at once and grows slowly: an answer that had to wait was seen late here, where the other
/// connections are served in between, more often than the server was slow.
std::chrono::nanoseconds usual_response(std::chrono::nanoseconds before,
                                        std::chrono::nanoseconds newest) {
  constexpr int memory = 16;
  if (before <= std::chrono::nanoseconds(0) || newest < before) return newest;
  return before + (newest - before) / memory;
}

double blend(double before, double newest) {
  return before > 0 ? (before + newest) / 2 : newest;
}

/// Below, what a range's rate says is chance.
constexpr std::uint64_t least_measured_bytes = 128U << 10U;

void misfit(Worker& worker, std::string problem, bool changed) {
  worker.judgement.step = Step::start_over;
  worker.judgement.changed = changed;
  worker.judgement.failure = {.problem = std::move(problem), .retryable = true};
}

/// A redirect often ends at a signed URL; when that has expired, the original one gives another.
bool may_be_an_expired_signature(const Worker& worker) {
  const int status = worker.answer->status;
  return (worker.from_resolved || worker.exchange.was_redirected()) &&
         (status == 400 || status == 401 || status == 403);
}

}  // namespace

void FileTransfer::learn_size(std::uint64_t size_bytes) {
  if (!size_) {
    size_ = size_bytes;
    to_.reserve(size_bytes);
  }
  for (Worker* const worker : active_workers())
    worker->range.end = std::min(worker->range.end, size_bytes);
}

/// Called by libcurl's callback: nothing may be taken out of the loop here.
bool FileTransfer::accept(Worker& worker, const Answer& answer) {
  Mirror& mirror = *worker.mirror;
  const bool is_whole = !answer.range;
  if (is_whole && !accept_whole(worker, answer)) return false;
  if (!accept_size(worker)) return false;
  const auto& judgement = worker.judgement;
  const bool is_part = judgement.end_bytes && judgement.end_bytes != judgement.size_bytes;
  if (is_part && worker.asked.is_range() && !is_proved_later() && !answer.validators.can_prove()) {
    misfit(worker, "server tells no version with its parts", false);
    return false;
  }
  bind(worker, answer);
  if (judgement.size_bytes) learn_size(*judgement.size_bytes);
  if (worker.asked.is_range() && !is_whole) {
    mirror.ranges = Ranges::served;
    mirror.host->climb.start();
    // What follows is worth other connections.
    const std::uint64_t begin = worker.range.begin;
    if (!worker.asked.end_bytes && mirror.is_bound &&
        worker.rest().size() > 2 * first_range_bytes) {
      worker.range.end = begin + first_range_bytes;
    }
  }
  if (worker.exchange.was_redirected()) mirror.redirects = true;
  if (worker.exchange.was_redirected() && mirror.ranges == Ranges::served) {
    mirror.resolved = worker.exchange.place().copy();
  }
  if (worker.resolves) mirror.is_resolving = worker.resolves = false;
  mirror.may_resolve_again = true;
  mirror.response = usual_response(mirror.response, worker.exchange.response_time());
  return true;
}

/// The answer is the file from its first byte, whatever was asked.
bool FileTransfer::accept_whole(Worker& worker, const Answer& answer) {
  Mirror& mirror = *worker.mirror;
  const bool is_same = !worker.asked.continues || worker.asked.is_same(answer.validators);
  if (!is_same) {
    if (++mirror.misfits > 2) {
      misfit(worker, "the file changes again and again", true);
      return false;
    }
    forget_version(mirror);
    worker.is_cancelled = false;
  }
  if (!worker.asked.is_range()) return true;
  const bool others_serve = std::any_of(mirrors_.begin(), mirrors_.end(), [&](const Mirror& each) {
    return &each != &mirror && each.is_alive() && each.ranges == Ranges::served;
  });
  if (others_serve && is_proved_later()) {
    misfit(worker, "server does not serve parts of the file", false);
    return false;
  }
  mirror.ranges = Ranges::not_served;
  cancel_all(nullptr, &worker);
  if (mirror.is_bound || is_proved_later())
    note_start_over(mirror.name, there_.bytes(), "the source serves no parts", tools_.observer);
  worker.range = {0, Coverage::endless};
  return true;
}

bool FileTransfer::accept_size(Worker& worker) {
  auto& judgement = worker.judgement;
  if (!size_ || !judgement.size_bytes || size_ == judgement.size_bytes) return true;
  const std::string problem =
      fmt::format("server offers {} bytes where {} are expected", *judgement.size_bytes, *size_);
  if (worker.mirror->is_bound) {
    misfit(worker, problem, true);
  } else if (is_proved_later()) {
    judgement.step = Step::refuse;
    judgement.failure = {.problem = problem, .hint = "it has another version of the file"};
  } else {
    size_.reset();  // of another source, whose bytes go with it
    return true;
  }
  return false;
}

void FileTransfer::bind(Worker& worker, const Answer& answer) {
  Mirror& mirror = *worker.mirror;
  if (mirror.is_bound) return;
  if (!is_proved_later() && there_.bytes() > 0) {
    note_start_over(mirror.name, there_.bytes(), no_version, tools_.observer);
    start_over();
  }
  mirror.validators = answer.validators;
  mirror.number =
      to_.number_of({mirror.name, answer.validators.etag, answer.validators.last_modified});
  read_present();  // without what that source gave of another version
  mirror.is_bound = is_proved_later() || answer.validators.can_prove();
}

/// Nothing is there any more, of any source.
void FileTransfer::start_over() {
  to_.restart();
  there_.clear();
  size_.reset();
  for (Mirror& mirror : mirrors_) {
    mirror.is_bound = false;
    mirror.validators = {};
  }
}

void FileTransfer::forget_version(Mirror& mirror) {
  const bool gave_bytes = mirror.is_bound;
  mirror.is_bound = false;
  mirror.validators = {};
  if (!is_proved_later()) {
    cancel_all(nullptr);
    note_start_over(
        mirror.name, there_.bytes(), "the file has changed at the source", tools_.observer);
    start_over();
    return;
  }
  cancel_all(&mirror);
  for (const base::SourcedRange& part : to_.present()) {
    if (gave_bytes && part.source == mirror.number) to_.drop(part.range);
  }
  read_present();
  const bool is_known_otherwise = std::any_of(
      mirrors_.begin(), mirrors_.end(), [](const Mirror& each) { return each.is_bound; });
  if (!is_known_otherwise && there_.bytes() == 0) size_.reset();
}

void FileTransfer::cancel_all(const Mirror* mirror, const Worker* except) {
  for (const auto& worker : workers_) {
    const bool is_meant = mirror == nullptr || worker->mirror == mirror;
    if (worker->is_active && is_meant && worker.get() != except) worker->is_cancelled = true;
  }
}

void FileTransfer::release(Worker& worker) {
  transferred_ += worker.received;
  worker.received = 0;
  worker.is_active = false;
  --worker.mirror->connections;
  if (worker.resolves) worker.mirror->is_resolving = false;
}

void FileTransfer::settle(Worker& worker, CURLcode code) {
  const auto ending = worker.exchange.finish(code);
  if (ending == Exchange::Ending::elsewhere) {
    tools_.loop.add(worker.exchange.handle());
    return;
  }
  worker.mirror->effective = worker.exchange.place().displayed;
  if (worker.answer) tools_.reachability.answered(host_key(worker.exchange.place()));
  if (!worker.is_cancelled) settle_answer(worker, ending == Exchange::Ending::clean);
  release(worker);
}

void FileTransfer::settle_answer(Worker& worker, bool is_clean) {
  const Judgement& judgement = worker.judgement;
  if (!worker.answer) {
    worker.mirror->resolved.reset();
    fail(worker, worker.exchange.failure());
    return;
  }
  switch (judgement.step) {
    case Step::take:
      settle_body(worker, is_clean);
      break;
    case Step::complete:
      if (there_.bytes() == *judgement.size_bytes) {
        learn_size(*judgement.size_bytes);
      } else {
        misfit(worker, "server says that the file ends before what is missing", true);
        settle_misfit(worker);
      }
      break;
    case Step::unchanged:  // was not asked: as any other status
    case Step::failed:
      settle_status(worker);
      break;
    case Step::refuse:
      fail(worker, judgement.failure);
      break;
    case Step::start_over:
      settle_misfit(worker);
      break;
  }
}

void FileTransfer::settle_status(Worker& worker) {
  Mirror& mirror = *worker.mirror;
  if (may_be_an_expired_signature(worker) && (worker.from_resolved || mirror.may_resolve_again)) {
    if (!worker.from_resolved) mirror.may_resolve_again = false;
    mirror.resolved.reset();
    return;
  }
  fail(worker, status_failure(*worker.answer, worker.error_body));
}

/// What is there and what the server has do not fit together, or its ranges are of no use.
void FileTransfer::settle_misfit(Worker& worker) {
  Mirror& mirror = *worker.mirror;
  Failure failure = worker.judgement.failure;
  const bool never_fitted = worker.judgement.changed && !mirror.is_bound;
  if (worker.judgement.changed) {
    forget_version(mirror);
  } else {
    mirror.ranges = Ranges::not_served;
  }
  if (never_fitted) failure.retryable = false;
  if (never_fitted || ++mirror.misfits > 1) fail(worker, failure);
}

void FileTransfer::settle_body(Worker& worker, bool is_clean) {
  Mirror& mirror = *worker.mirror;
  const Judgement& judgement = worker.judgement;
  if (worker.sent_too_much) {
    const auto limit = judgement.end_bytes ? judgement.end_bytes : judgement.size_bytes;
    forget_version(mirror);
    fail(worker,
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
  Failure failure = worker.exchange.failure();
  if (is_clean) failure = {.problem = "the connection was closed", .retryable = true};
  const auto size = known_size();
  if (size) failure.problem += fmt::format(" after {} of {} bytes", there_.bytes(), *size);
  fail(worker, failure);
}

/// The body ended as it should, but before what was wanted of it.
void FileTransfer::settle_end(Worker& worker) {
  const auto& size = worker.judgement.size_bytes;
  if (!size) {
    if (!worker.answer->end_is_marked) {
      tools_.observer.warn(worker.mirror->source.displayed +
                               ": server does not tell the size; a cut would go unnoticed",
                           "state size and sha256 in the document");
    }
    learn_size(worker.position);
    succeeded(worker);
    return;
  }
  if (worker.answer->range && worker.asked.is_range()) {
    succeeded(worker);  // so far; the rest is asked for again
    return;
  }
  if (worker.answer->range) {
    fail(worker, {.problem = "server sent a part of the file where the whole was asked"});
    return;
  }
  Failure failure{
      .problem = fmt::format("server sent {} bytes where {} are expected", worker.position, *size),
      .retryable = true};
  if (worker.answer->end_is_marked) {
    forget_version(*worker.mirror);
    failure.retryable = false;
    failure.hint = "the file has changed, or the answer is another page";
  }
  fail(worker, failure);
}

void FileTransfer::succeeded(Worker& worker) {
  const Seconds took = tools_.clock.steady() - worker.first_byte;
  if (worker.received >= least_measured_bytes && took.count() > 0) {
    worker.mirror->rate =
        blend(worker.mirror->rate, static_cast<double>(worker.received) / took.count());
  }
}

}  // namespace sabath::fetch
