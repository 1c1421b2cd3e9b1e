#include "attempt.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

namespace sabath::fetch {

namespace {

void put_failure(Outcome& outcome, const Failure& failure) {
  outcome.problem = failure.problem;
  outcome.hint = failure.hint;
  outcome.retryable = failure.retryable;
  outcome.not_found = failure.not_found;
  outcome.access_needed = failure.access_needed;
  outcome.retry_after = failure.retry_after;
  outcome.unreachable = failure.unreachable;
}

bool is_there(const Request& request, const base::StagedFile& to) {
  const auto there = to.contiguous_bytes();
  return there > 0 && there == request.size_bytes;
}

/// Of what is there from this source, if anything is.
Validators kept_validators(const SourceUrl& source, const base::StagedFile& to) {
  for (const base::ByteSource& kept : to.sources()) {
    if (kept.url == source.displayed) return {kept.etag, kept.last_modified};
  }
  return {};
}

/// What is missing; a partial of which nothing can be proved is dropped first.
Asked ask(const SourceUrl& source,
          const Request& request,
          const Validators& validators,
          base::StagedFile& to,
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
                base::StagedFile& to,
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
    Intake intake(asked, source.displayed, to);
    const Turn turn = perform(asked, intake);
    validators = intake.validators();
    outcome.effective_url = turn.effective_url;
    outcome.transferred += intake.received_bytes();
    outcome.ok = turn.end == End::complete;
    if (turn.end == End::failed || (turn.end == End::again && !has_second_chance)) {
      put_failure(outcome, intake.failure());
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
  put_failure(outcome, failure);
  return outcome;
}

void throw_stopped(const SourceUrl& source) {
  throw base::Error(base::ErrorKind::interrupted, source.displayed + ": the transfer was stopped");
}

}  // namespace sabath::fetch
