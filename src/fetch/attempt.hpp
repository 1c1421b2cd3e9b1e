#pragma once

#include "failure.hpp"
#include "http/answer.hpp"
#include "source_url.hpp"
#include "transfer/intake.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/base/staged_file.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sabath::fetch {

/// How one request ended, and where its answer came from (fit for display).
struct Turn {
  End end = End::failed;
  std::string effective_url{};
};

/// Performs one request over some protocol: gives the intake an answer and a body.
using Perform = std::function<Turn(const Asked& asked, Intake& intake)>;

/// One attempt at one source: as many requests as it takes to get the file or to know that it is
/// not to be had. A request that finds a partial of another version, or an expired redirect, is
/// repeated once.
Outcome attempt(const SourceUrl& source,
                const Request& request,
                base::StagedFile& to,
                base::Observer& observer,
                const Perform& perform);
/// Tells that what an earlier attempt left is dropped, and why; nothing where it left nothing.
void note_start_over(const std::string& source,
                     std::uint64_t dropped_bytes,
                     std::string_view why,
                     base::Observer& observer);
inline constexpr std::string_view no_version =
    "nothing proves that they are of this version (no digest, ETag or Last-Modified)";

/// For a source that was not even asked.
Outcome failed_outcome(const std::string& url, const Failure& failure);

/// Throws Error{interrupted}.
[[noreturn]] void throw_stopped(const SourceUrl& source);

}  // namespace sabath::fetch
