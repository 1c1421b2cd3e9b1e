#include "attempt.hpp"

#include <sabath/base/error.hpp>

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
Asked ask(const Request& request, const Validators& validators, base::StagedFile& to) {
  const auto there = to.contiguous_bytes();
  const bool too_long = request.size_bytes && there > *request.size_bytes;
  if (there > 0 && (too_long || !validators.can_prove())) to.restart();
  return {.offset_bytes = to.contiguous_bytes(),
          .size_bytes = request.size_bytes,
          .validators = validators};
}

}  // namespace

Outcome attempt(const SourceUrl& source,
                const Request& request,
                base::StagedFile& to,
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
    const Asked asked = ask(request, validators, to);
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
