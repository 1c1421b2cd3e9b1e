#include "attempt.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>

namespace sabath::fetch {

namespace {

bool is_there(const Request& request, const base::PartialFile& to) {
  const auto there = to.contiguous_bytes();
  return there > 0 && there == request.size_bytes;
}

/// Returns the validators of the present bytes of this source.
Validators kept_validators(const SourceUrl& source, const base::PartialFile& to) {
  for (const base::ByteSource& kept : to.sources()) {
    if (kept.url == source.displayed) return {kept.etag, kept.last_modified};
  }
  return {};
}

/// Returns the request for the missing bytes. Drops a partial without provable version first.
Asked ask(const SourceUrl& source,
          const Request& request,
          const Validators& validators,
          base::PartialFile& to,
          base::Observer& observer) {
  const auto there = to.contiguous_bytes();
  const bool too_long = request.size_bytes && there > *request.size_bytes;
  if (too_long || !validators.can_prove()) {
    const std::string_view why = too_long ? "that is more than the file has" : no_version;
    note_start_over(source.displayed, there, why, observer);
    if (there > 0) to.restart();
  }
  return {.offset_bytes = to.contiguous_bytes(),
          .size_bytes = request.size_bytes,
          .validators = validators};
}

}  // namespace

Outcome attempt(const SourceUrl& source,
                const Request& request,
                base::PartialFile& to,
                base::Observer& observer,
                const Perform& perform) {
  Outcome outcome;
  outcome.url = source.plain;
  outcome.effective_url = source.displayed;
  Validators validators = kept_validators(source, to);
  bool has_second_chance = true;
  while (!outcome.ok) {
    if (is_there(request, to)) {
      outcome.ok = true;
      break;
    }
    const Asked asked = ask(source, request, validators, to, observer);
    ResponseWriter writer(asked, source.displayed, to);
    const Turn turn = perform(asked, writer);
    validators = writer.validators();
    outcome.effective_url = turn.effective_url;
    outcome.transferred += writer.received_bytes();
    outcome.ok = turn.end == End::complete;
    if (turn.end == End::failed || (turn.end == End::again && !has_second_chance)) {
      add_failure(outcome, true, writer.failure().problem, writer.failure());
      break;
    }
    if (turn.end == End::again) has_second_chance = false;
  }
  outcome.etag = validators.etag;
  outcome.last_modified = validators.last_modified;
  if (outcome.ok) outcome.bytes = to.contiguous_bytes();
  return outcome;
}

void note_start_over(const std::string& source,
                     std::uint64_t dropped_bytes,
                     std::string_view why,
                     base::Observer& observer) {
  if (dropped_bytes == 0) return;
  observer.note(source + ": starts at 0, without the " + base::format_bytes(dropped_bytes) +
                " that were there: " + std::string(why));
}

Outcome failed_outcome(const std::string& url, const Failure& failure) {
  Outcome outcome;
  outcome.url = displayed_url(url);
  outcome.effective_url = outcome.url;
  add_failure(outcome, true, failure.problem, failure);
  return outcome;
}

void throw_failure(const std::string& place, const Failure& failure) {
  auto kind = failure.not_found ? base::ErrorKind::not_found : base::ErrorKind::transfer;
  if (failure.access_needed) kind = base::ErrorKind::access;
  throw base::Error(kind, place + ": " + failure.problem, failure.hint);
}

void throw_stopped(const SourceUrl& source) {
  throw base::Error(base::ErrorKind::interrupted, source.displayed + ": the transfer was stopped");
}

std::chrono::milliseconds backoff(const RetryPolicy& policy,
                                  int failures,
                                  std::chrono::milliseconds floor,
                                  std::minstd_rand& random) {
  auto width = policy.base;
  for (int i = 1; i < failures && width < policy.cap; ++i)
    width *= 2;
  width = std::min(width, policy.cap);
  using Count = std::chrono::milliseconds::rep;
  std::uniform_int_distribution<Count> jitter(0, std::max<Count>(width.count(), 0));
  return floor + std::chrono::milliseconds(jitter(random));
}

}  // namespace sabath::fetch
