#include "attempt.hpp"
#include "source_url.hpp"
#include "wrong_sources.hpp"

#include <sabath/base/error.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace sabath::fetch {

namespace {

using Fetchers = std::vector<std::unique_ptr<Fetcher>>;

/// An attempt with so much progress starts the count of failures anew.
constexpr std::uint64_t progress_bytes = 1U << 20U;

Outcome unknown_scheme(const Fetchers& fetchers, const std::string& url) {
  std::vector<std::string_view> known;
  for (const auto& fetcher : fetchers) {
    const auto schemes = fetcher->schemes();
    known.insert(known.end(), schemes.begin(), schemes.end());
  }
  const std::string scheme = scheme_of(url);
  return failed_outcome(
      url,
      {.problem = scheme.empty() ? "is not a URL" : fmt::format("unknown scheme '{}'", scheme),
       .hint = fmt::format("known are {}; a file of this machine is file:///its/path",
                           fmt::join(known, ", "))});
}

std::string describe(const Outcome& outcome, const std::string& url) {
  const std::string place = displayed_url(url);
  const std::string end = displayed_url(outcome.effective_url);
  if (end == place) return fmt::format("{}: {}", place, outcome.problem);
  return fmt::format("{}: {} (after a redirect to {})", place, outcome.problem, end);
}

/// Sources for one call of a fetcher.
struct Group {
  Fetcher* fetcher = nullptr;  ///< nothing: unknown scheme
  std::vector<std::string> urls{};
};

/// A fetcher with mirrors gets all its sources together, at the place of the first.
std::vector<Group> groups_of(const std::vector<std::string>& urls, const Fetchers& fetchers) {
  std::vector<Group> groups;
  for (const std::string& url : urls) {
    const auto able = fetchers_for(fetchers, url);
    Fetcher* const fetcher = able.empty() ? nullptr : able.front();
    const auto together = std::ranges::find_if(groups, [&](const Group& group) {
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

/// Tries the sources of one file, group by group.
struct Pursuit {
  Request request;
  const Fetchers& fetchers;
  base::PartialFile& to;
  const RetryPolicy& policy;
  base::Clock& clock;
  base::Observer& observer;
  std::stop_token stop;
  std::minstd_rand random{std::random_device{}()};
  std::uint64_t transferred = 0;

  Outcome run() {
    wait({});
    WrongSources wrong(request.urls, to);
    Outcome outcome = from(request.urls);
    while (outcome.ok && to.matches() == base::DigestMatch::wrong) {
      const auto actual = to.digests();
      const auto trusted = wrong.next(to, observer);
      if (trusted.empty()) {
        outcome.ok = false;
        outcome.wrong_bytes = true;
        outcome.problem =
            wrong.places(outcome.url) + ": " + digest_mismatch(request.digests, actual);
        outcome.hint = "the file has changed, or the document's digest is wrong";
        break;
      }
      outcome = from(trusted);
    }
    if (outcome.ok) wrong.settle(observer);
    outcome.wrong_sources = wrong.wrong_sources();
    outcome.transferred = transferred;
    return outcome;
  }

  Outcome from(const std::vector<std::string>& urls) {
    Outcome all;
    for (const Group& group : groups_of(urls, fetchers)) {
      Outcome outcome = pursue(group);
      if (outcome.ok) return outcome;
      const bool has_several = group.urls.size() > 1;
      add_failure(all,
                  all.url.empty(),
                  has_several ? outcome.problem : describe(outcome, group.urls.front()),
                  outcome);
      all.wrong_bytes = all.wrong_bytes || outcome.wrong_bytes;
      all.url = outcome.url;
      all.effective_url = outcome.effective_url;
    }
    if (urls.empty()) all.problem = "no source is given";
    return all;
  }

  Outcome pursue(const Group& group) {
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

  Outcome try_once(const Group& group) {
    Outcome outcome = group.fetcher->fetch(group.urls, request, to, observer, stop);
    transferred += outcome.transferred;
    return outcome;
  }

  void wait(std::chrono::milliseconds duration) {
    constexpr std::chrono::milliseconds slice(200);
    for (auto left = duration; left.count() > 0 && !stop.stop_requested(); left -= slice) {
      clock.sleep_for(std::min(left, slice));
    }
    if (stop.stop_requested()) {
      throw base::Error(base::ErrorKind::interrupted, request.label + ": the transfer was stopped");
    }
  }
};

/// Ends the progress task in its destructor.
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
                   base::PartialFile& to,
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
