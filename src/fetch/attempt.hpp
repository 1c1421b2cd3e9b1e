#pragma once

#include "answer.hpp"
#include "failure.hpp"
#include "intake.hpp"
#include "source_url.hpp"

#include <sabath/base/staged_file.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <functional>
#include <string>

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
                const Perform& perform);

/// For a source that was not even asked.
Outcome failed_outcome(const std::string& url, const Failure& failure);

/// Throws Error{interrupted}.
[[noreturn]] void throw_stopped(const SourceUrl& source);

}  // namespace sabath::fetch
