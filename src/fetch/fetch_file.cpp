#include "backoff.hpp"
#include "blame.hpp"
#include "reachability.hpp"
#include "source_url.hpp"

#include <sabath/base/error.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace sabath::fetch {

namespace {

using Fetchers = std::vector<std::unique_ptr<Fetcher>>;

/// An attempt that brought the file nearer by so much did not fail in vain.
constexpr std::uint64_t progress_bytes = 1U << 20U;

Fetcher* find_fetcher(const Fetchers& fetchers, const std::string& scheme) {
  for (const auto& fetcher : fetchers) {
    const auto schemes = fetcher->schemes();
    if (std::find(schemes.begin(), schemes.end(), scheme) != schemes.end()) return fetcher.get();
  }
  return nullptr;
}

Outcome unknown_scheme(const Fetchers& fetchers, const std::string& url) {
  std::vector<std::string_view> known;
  for (const auto& fetcher : fetchers) {
    const auto schemes = fetcher->schemes();
    known.insert(known.end(), schemes.begin(), schemes.end());
  }
  const std::string scheme = scheme_of(url);
  Outcome outcome;
  outcome.url = displayed_url(url);
  outcome.effective_url = outcome.url;
  outcome.problem = scheme.empty() ? "is not a URL" : fmt::format("unknown scheme '{}'", scheme);
  outcome.hint = fmt::format("known are {}; a file of this machine is file:///its/path",
                             fmt::join(known, ", "));
  return outcome;
}

std::string describe(const Outcome& outcome, const std::string& url) {
  const std::string place = displayed_url(url);
  const std::string end = displayed_url(outcome.effective_url);
  if (end == place) return fmt::format("{}: {}", place, outcome.problem);
  return fmt::format("{}: {} (after a redirect to {})", place, outcome.problem, end);
}

/// Sources that one call of a fetcher gets.
struct Group {
  Fetcher* fetcher = nullptr;  ///< nothing: nobody knows the scheme
  std::vector<std::string> urls{};
};

/// A fetcher that takes mirrors gets all that are its own, in the place of the first.
std::vector<Group> groups_of(const std::vector<std::string>& urls, const Fetchers& fetchers) {
  std::vector<Group> groups;
  for (const std::string& url : urls) {
    Fetcher* const fetcher = find_fetcher(fetchers, scheme_of(url));
    const auto together = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return fetcher != nullptr && fetcher->takes_mirrors() && group.fetcher == fetcher;
    });
    if (together != groups.end()) {
      together->urls.push_back(url);
    } else {
      groups.push_back({fetcher, {url}});
    }
  }
  return groups;
}

/// The sources of one file, one group after the other.
struct Pursuit {
  Request request;
  const Fetchers& fetchers;
  base::StagedFile& to;
  const RetryPolicy& policy;
  base::Clock& clock;
  base::Observer& observer;
  std::stop_token stop;
  std::minstd_rand random{std::random_device{}()};
  std::uint64_t transferred = 0;

  Outcome run();
  Outcome from(const std::vector<std::string>& urls);
  Outcome pursue(const Group& group);
  Outcome try_once(const Group& group);
  void wait(std::chrono::milliseconds duration);
};

void Pursuit::wait(std::chrono::milliseconds duration) {
  constexpr std::chrono::milliseconds slice(200);
  for (auto left = duration; left.count() > 0 && !stop.stop_requested(); left -= slice) {
    clock.sleep_for(std::min(left, slice));
  }
  if (stop.stop_requested()) {
    throw base::Error(base::ErrorKind::interrupted, request.label + ": the transfer was stopped");
  }
}

Outcome Pursuit::try_once(const Group& group) {
  Outcome outcome = group.fetcher->fetch(group.urls, request, to, observer, stop);
  transferred += outcome.transferred;
  return outcome;
}

Outcome Pursuit::pursue(const Group& group) {
  const std::string& url = group.urls.front();
  if (group.fetcher == nullptr) return unknown_scheme(fetchers, url);
  if (group.fetcher->takes_mirrors()) return try_once(group);
  auto farthest = to.contiguous_bytes();
  for (int failures = 0;;) {
    Outcome outcome = try_once(group);
    const auto there = to.contiguous_bytes();
    failures = there >= farthest + progress_bytes ? 1 : failures + 1;
    farthest = std::max(farthest, there);
    if (outcome.ok || !outcome.retryable || failures >= policy.attempts) return outcome;
    if (outcome.retry_after > policy.longest_wait) {
      outcome.problem +=
          fmt::format(" and asks to wait for {}", base::format_duration(outcome.retry_after));
      return outcome;
    }
    const auto delay = backoff(policy, failures, outcome.retry_after, random);
    observer.note(fmt::format("{}: {}; trying again in {}",
                              displayed_url(url),
                              outcome.problem,
                              base::format_duration(delay)));
    wait(delay);
  }
}

Outcome Pursuit::from(const std::vector<std::string>& urls) {
  Outcome all;
  all.not_found = !urls.empty();
  for (const Group& group : groups_of(urls, fetchers)) {
    Outcome outcome = pursue(group);
    if (outcome.ok) return outcome;
    const bool is_told = group.urls.size() > 1;
    all.problem += (all.problem.empty() ? "" : "; ") +
                   (is_told ? outcome.problem : describe(outcome, group.urls.front()));
    if (all.hint.empty()) all.hint = outcome.hint;
    all.retryable = all.retryable || outcome.retryable;
    all.not_found = all.not_found && outcome.not_found;
    all.access_needed = all.access_needed || outcome.access_needed;
    add_unreachable(all.unreachable, all.url.empty(), outcome.unreachable);
    all.wrong_bytes = all.wrong_bytes || outcome.wrong_bytes;
    all.retry_after = std::max(all.retry_after, outcome.retry_after);
    all.url = outcome.url;
    all.effective_url = outcome.effective_url;
  }
  if (urls.empty()) all.problem = "no source is given";
  return all;
}

Outcome Pursuit::run() {
  wait({});
  Blame blame(request.urls, to);
  Outcome outcome = from(request.urls);
  while (outcome.ok && to.matches() == base::DigestMatch::wrong) {
    const auto actual = to.digests();
    const auto trusted = blame.next(to, observer);
    if (trusted.empty()) {
      outcome.ok = false;
      outcome.wrong_bytes = true;
      outcome.problem = blame.places(outcome.url) + ": " + digest_mismatch(request.digests, actual);
      outcome.hint = "the file has changed, or the document's digest is wrong";
      break;
    }
    outcome = from(trusted);
  }
  if (outcome.ok) blame.settle(observer);
  outcome.wrong_sources = blame.wrong_sources();
  outcome.transferred = transferred;
  return outcome;
}

/// Ends the progress task when it goes out of scope.
class ProgressEnd {
 public:
  ProgressEnd(const Pursuit& pursuit) : pursuit_(pursuit) {}
  ~ProgressEnd() {
    pursuit_.observer.progress({.task = pursuit_.request.label,
                                .done = pursuit_.to.present_bytes(),
                                .total = pursuit_.request.size_bytes,
                                .finished = true});
  }
  ProgressEnd(const ProgressEnd&) = delete;
  ProgressEnd& operator=(const ProgressEnd&) = delete;

 private:
  const Pursuit& pursuit_;
};

}  // namespace

// NOLINTNEXTLINE(readability-function-size): seven, each used once; a struct would only rename them
Outcome fetch_file(const Request& request,
                   const Fetchers& fetchers,
                   base::StagedFile& to,
                   const RetryPolicy& policy,
                   base::Clock& clock,
                   base::Observer& observer,
                   std::stop_token stop) {
  Pursuit pursuit{request, fetchers, to, policy, clock, observer, std::move(stop)};
  pursuit.request.retries = policy;
  std::string& label = pursuit.request.label;
  if (label.empty() && !request.urls.empty()) label = displayed_url(request.urls.front());
  const ProgressEnd progress_end(pursuit);
  return pursuit.run();
}

}  // namespace sabath::fetch
