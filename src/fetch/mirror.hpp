#pragma once

#include "failure.hpp"
#include "http/answer.hpp"
#include "source_url.hpp"
#include "transfer/connection_tuner.hpp"

#include <sabath/base/clock.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace sabath::fetch {

/// A host with one or more sources of a file. Its limits count for all of them.
struct Host {
  explicit Host(std::string host, unsigned most_connections)
      : name(std::move(host)), tuner(most_connections) {}

  std::string name;
  ConnectionTuner tuner;
  base::SteadyTime embargo{};  ///< no new requests before
  std::uint64_t bytes = 0;     ///< received from it
};

enum class Ranges { unknown, served, not_served };

/// One source of a file, and its known properties.
struct Mirror {
  Mirror(SourceUrl url, std::string its_name, Host& its_host)
      : source(std::move(url)), name(std::move(its_name)), host(&its_host) {}

  SourceUrl source;
  std::string name;  ///< of its bytes in the partial file
  Host* host;
  /// Target of the redirects while it works: a signed URL expires.
  std::optional<SourceUrl> resolved{};
  bool redirects = false;
  bool may_resolve_again = true;  ///< not yet done since the last good answer
  bool is_resolving = false;      ///< one request finds the new target of the redirects

  Validators validators{};  ///< of its bytes in the file
  bool is_bound = false;    ///< there are such bytes
  unsigned number = 0;      ///< of that version in the partial file
  Ranges ranges = Ranges::unknown;
  int misfits = 0;  ///< answers that did not fit the request or the present bytes

  int failures = 0;  ///< in a row
  std::uint64_t bytes = 0;
  /// That no attempt had brought before, since its last failure: one that begins again at 0 brings
  /// none.
  std::uint64_t new_bytes = 0;
  base::SteadyTime embargo{};
  std::optional<Failure> final_failure{};  ///< set when the source is given up
  std::string effective{};                 ///< URL of its last answer, fit for display

  double rate = 0;  ///< bytes per second of one connection
  std::chrono::nanoseconds response{};
  unsigned connections = 0;

  bool is_alive() const { return !final_failure; }
  const SourceUrl& place() const { return resolved ? *resolved : source; }
};

}  // namespace sabath::fetch
