#pragma once

#include "failure.hpp"
#include "source_url.hpp"

#include <sabath/base/clock.hpp>

#include <map>
#include <optional>
#include <string>

namespace sabath::fetch {

/// What names the host of `source` below: "https://data.example.org:8443".
std::string host_key(const SourceUrl& source);

/// What an outcome says of one more source that failed: its hosts are named where none was reached.
void add_unreachable(std::string& hosts, bool is_first, const std::string& host);

/// Hosts that the sources of one file could not reach by any number of attempts: those of the other
/// files would not either. Lives as long as its fetcher, that is as long as the command.
class Reachability {
 public:
  explicit Reachability(base::Clock& clock) : clock_(clock) {}

  /// Why nothing is asked of the host any more; not to be retried.
  std::optional<Failure> verdict(const std::string& host) const;
  void answered(const std::string& host);
  /// A source was given up. Means something where `failure.unreachable` is set, and its host has
  /// not answered others just now.
  void gave_up(const Failure& failure);
  /// Is a retry because of this worth a line? Once for a host that cannot be reached.
  bool is_news(const Failure& failure);

 private:
  struct Host {
    std::optional<base::SteadyTime> answered{};
    std::optional<Failure> failure{};
    bool was_told = false;
  };

  base::Clock& clock_;
  std::map<std::string, Host> hosts_{};
};

}  // namespace sabath::fetch
