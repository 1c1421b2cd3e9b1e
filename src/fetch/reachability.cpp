#include "reachability.hpp"

#include <utility>

namespace sabath::fetch {

namespace {

/// A host that answered so recently is reachable, although one connection failed.
constexpr std::chrono::seconds just_now(10);

}  // namespace

std::string host_key(const SourceUrl& source) {
  return source.scheme + "://" + source.host;
}

void add_unreachable(std::string& hosts, bool is_first, const std::string& host) {
  if (is_first || host.empty()) {
    hosts = host;
  } else if (!hosts.empty() && hosts.find(host) == std::string::npos) {
    hosts += ", " + host;
  }
}

std::optional<Failure> Reachability::verdict(const std::string& host) const {
  const auto known = hosts_.find(host);
  return known == hosts_.end() ? std::nullopt : known->second.failure;
}

void Reachability::answered(const std::string& host) {
  hosts_[host] = {.answered = clock_.steady()};
}

void Reachability::gave_up(const Failure& failure) {
  if (failure.unreachable.empty()) return;
  Host& host = hosts_[failure.unreachable];
  if (host.answered && clock_.steady() - *host.answered < just_now) return;
  host.failure = failure;
  host.failure->retryable = false;
}

bool Reachability::is_news(const Failure& failure) {
  return failure.unreachable.empty() ||
         !std::exchange(hosts_[failure.unreachable].was_reported, true);
}

}  // namespace sabath::fetch
