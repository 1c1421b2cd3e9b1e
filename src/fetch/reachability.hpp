#pragma once

#include "failure.hpp"
#include "source_url.hpp"

#include <sabath/base/clock.hpp>

#include <map>
#include <optional>
#include <string>

namespace sabath::fetch {

/// Returns the name of the host of `source`: "https://data.example.org:8443".
std::string host_key(const SourceUrl& source);

/// Adds the host of one more failed source. `hosts` becomes empty when a source was reached.
void add_unreachable(std::string& hosts, bool is_first, const std::string& host);

/// Hosts that could not be reached by all attempts for one file. They are not asked for other
/// files. Lives as long as its fetcher, which lives as long as the command.
class Reachability {
 public:
  explicit Reachability(base::Clock& clock) : clock_(clock) {}

  /// Returns why the host is not asked any more. It is not retryable.
  std::optional<Failure> verdict(const std::string& host) const;
  void answered(const std::string& host);
  /// Called when a source is given up. Counts where `failure.unreachable` is set and its host did
  /// not just answer others.
  void gave_up(const Failure& failure);
  /// Is this failure to be shown? Once for each unreachable host.
  bool is_news(const Failure& failure);

 private:
  struct Host {
    std::optional<base::SteadyTime> answered{};
    std::optional<Failure> failure{};
    bool was_reported = false;
  };

  base::Clock& clock_;
  std::map<std::string, Host> hosts_{};
};

}  // namespace sabath::fetch
