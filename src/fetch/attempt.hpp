#pragma once

#include "failure.hpp"
#include "http/answer.hpp"
#include "reachability.hpp"
#include "source_url.hpp"
#include "transfer/response_writer.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/base/partial_file.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>

namespace sabath::fetch {

/// End of one request, and the URL of its answer, fit for display.
struct Turn {
  End end = End::failed;
  std::string effective_url{};
};

/// Performs one request: gives the writer an answer and a body.
using Perform = std::function<Turn(const Asked& asked, ResponseWriter& writer)>;

/// Makes one attempt at one source, with as many requests as it needs. A request that finds a
/// partial of another version, or an expired redirect, is repeated once.
Outcome attempt(const SourceUrl& source,
                const Request& request,
                base::PartialFile& to,
                base::Observer& observer,
                const Perform& perform);
/// Notes that the bytes of an earlier attempt are dropped, and why. Does nothing for 0 bytes.
void note_start_over(const std::string& source,
                     std::uint64_t dropped_bytes,
                     std::string_view why,
                     base::Observer& observer);
inline constexpr std::string_view no_version =
    "nothing proves that they are of this version (no digest, ETag or Last-Modified)";

/// Adds a failed source to an outcome. `cause` is a Failure or an Outcome. `is_first`: no source
/// was added before.
template <class Cause>
void add_failure(Outcome& outcome, bool is_first, const std::string& text, const Cause& cause) {
  outcome.problem += (outcome.problem.empty() ? "" : "; ") + text;
  if (outcome.hint.empty()) outcome.hint = cause.hint;
  outcome.retryable = outcome.retryable || cause.retryable;
  outcome.not_found = (is_first || outcome.not_found) && cause.not_found;
  outcome.access_needed = outcome.access_needed || cause.access_needed;
  add_unreachable(outcome.unreachable, is_first, cause.unreachable);
  outcome.retry_after = std::max(outcome.retry_after, cause.retry_after);
}

/// Returns the outcome of a source that was not asked.
Outcome failed_outcome(const std::string& url, const Failure& failure);

/// Throws Error{not_found|access|transfer} "place: problem".
[[noreturn]] void throw_failure(const std::string& place, const Failure& failure);
/// Throws Error{interrupted}.
[[noreturn]] void throw_stopped(const SourceUrl& source);

/// Returns the pause after `failures` failures in a row: uniform in [floor, floor + backoff].
/// Backoff doubles from policy.base up to policy.cap. The jitter spreads ranks that failed
/// together.
std::chrono::milliseconds backoff(const RetryPolicy& policy,
                                  int failures,
                                  std::chrono::milliseconds floor,
                                  std::minstd_rand& random);

}  // namespace sabath::fetch
