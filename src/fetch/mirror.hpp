#pragma once

#include "failure.hpp"
#include "http/validators.hpp"
#include "source_url.hpp"
#include "transfer/climb.hpp"

#include <sabath/base/clock.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace sabath::fetch {

/// A host that sources of one file are on: what it bears counts for all of them.
struct Host {
  explicit Host(std::string host, unsigned most_connections)
      : name(std::move(host)), climb(most_connections) {}

  std::string name;
  Climb climb;
  base::SteadyTime embargo{};  ///< no new requests before
  std::uint64_t bytes = 0;     ///< that came from it
};

enum class Ranges { unknown, served, not_served };

/// One source of a file, and what was learned of it.
struct Mirror {
  Mirror(SourceUrl url, std::string its_name, Host& its_host)
      : source(std::move(url)), name(std::move(its_name)), host(&its_host) {}

  SourceUrl source;
  std::string name;  ///< of its bytes, among those of the file's other sources
  Host* host;
  /// Where redirects led, as long as that works: a signed URL, which expires.
  std::optional<SourceUrl> resolved{};
  bool redirects = false;
  bool may_resolve_again = true;  ///< not done since the last good answer
  bool is_resolving = false;      ///< one request is enough to find out where redirects lead now

  Validators validators{};  ///< of the version that its bytes in the file are of
  bool is_bound = false;    ///< there are such bytes
  unsigned number = 0;      ///< of that version in the staged file
  Ranges ranges = Ranges::unknown;
  int misfits = 0;  ///< answers that did not fit what was there or was asked

  int failures = 0;  ///< in a row
  std::uint64_t bytes = 0;
  std::uint64_t bytes_at_failure = 0;
  base::SteadyTime embargo{};
  std::optional<Failure> final_failure{};  ///< it is given up
  std::string effective{};                 ///< where its last answer came from, fit for display

  double rate = 0;  ///< bytes per second of one connection
  std::chrono::nanoseconds response{};
  unsigned connections = 0;

  bool is_alive() const { return !final_failure; }
  const SourceUrl& place() const { return resolved ? *resolved : source; }
};

}  // namespace sabath::fetch
