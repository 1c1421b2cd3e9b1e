#include "many_files.hpp"

#include "attempt.hpp"
#include "backoff.hpp"
#include "blame.hpp"

#include <sabath/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace sabath::fetch {

namespace {

using namespace std::chrono_literals;

/// Streams of HTTP/2 connections; libcurl keeps the rest waiting where a server has only 1.1.
constexpr std::size_t most_streams = 64;
/// More files than these may not be open because of a server that is busy.
constexpr std::size_t most_waiting = 256;
/// What broke off behind so many bytes is gone on with; less is asked for again.
constexpr std::uint64_t worth_keeping_bytes = 1U << 20U;

/// Of the versions that are here, the one that `url` gave.
Validators version_here(const Request& request, const std::string& url) {
  const auto known = std::find_if(request.here.begin(),
                                  request.here.end(),
                                  [&](const KnownVersion& version) { return version.url == url; });
  if (known == request.here.end()) return {};
  return {known->etag, known->last_modified};
}

}  // namespace

ManyFiles::ManyFiles(TransferTools tools,
                     TransferLoop& alone,
                     FileList& files,
                     const RetryPolicy& policy)
    : tools_(std::move(tools)),
      alone_(alone),
      files_(files),
      policy_(policy),
      throttled_to_(most_streams) {}

ManyFiles::~ManyFiles() {
  for (const Slot& slot : slots_) {
    if (slot.is_active) tools_.loop.remove(slot.exchange.handle());
  }
}

std::size_t ManyFiles::limit() const {
  const std::size_t most = is_multiplexed_ ? most_streams : tools_.options.connections_per_host;
  return std::max<std::size_t>(1, std::min(most, throttled_to_));
}

ManyFiles::Slot& ManyFiles::idle_slot() {
  const auto idle =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.is_active; });
  if (idle != slots_.end()) return *idle;
  return slots_.emplace_back(tools_.options, tools_.clock);
}

std::optional<ManyFiles::Job> ManyFiles::next_job(const std::vector<std::size_t>& indices) {
  const auto now = tools_.clock.steady();
  const auto ready = std::find_if(
      waiting_.begin(), waiting_.end(), [&](const Job& job) { return job.ready <= now; });
  if (ready != waiting_.end()) {
    Job job = std::move(*ready);
    waiting_.erase(ready);
    return job;
  }
  if (next_ == indices.size() || waiting_.size() >= most_waiting) return {};
  const std::size_t index = indices[next_++];
  Job job{.index = index, .request = files_.request(index)};
  job.to = &files_.open(index);
  return job;
}

void ManyFiles::start(Job job) {
  const std::string& url = job.request.urls[job.url];
  auto parsed = parse_source_url(url);
  if (const auto* failure = std::get_if<Failure>(&parsed)) {
    job.outcome.url = displayed_url(url);
    fail(std::move(job), *failure);
    return;
  }
  const auto& source = std::get<SourceUrl>(parsed);
  job.outcome.url = source.plain;
  job.outcome.effective_url = source.displayed;
  if (const auto verdict = tools_.reachability.verdict(host_key(source))) {
    fail(std::move(job), *verdict);
    return;
  }
  if (job.to->present_bytes() > 0) {
    leftovers_.push_back(std::move(job));  // an earlier attempt's part is continued by ranges
    return;
  }
  Slot& slot = idle_slot();
  slot.job = std::move(job);
  slot.displayed = source.displayed;
  const Asked asked{
      .size_bytes = slot.job.request.size_bytes,
      .unless_it_is = version_here(slot.job.request, slot.job.request.urls[slot.job.url])};
  slot.intake.emplace(asked, slot.displayed, *slot.job.to);
  slot.exchange.prepare(source, asked, *slot.intake, Sharing::shared_connection);
  tools_.loop.add(slot.exchange.handle());
  slot.is_active = true;
  ++active_;
}

void ManyFiles::give_out(const std::vector<std::size_t>& indices) {
  while (active_ < limit()) {
    auto job = next_job(indices);
    if (!job) return;
    start(std::move(*job));
  }
}

void ManyFiles::settle(Slot& slot, CURLcode code) {
  const auto ending = slot.exchange.finish(code);
  if (ending == Exchange::Ending::elsewhere) {
    tools_.loop.add(slot.exchange.handle());
    return;
  }
  slot.is_active = false;
  --active_;
  slot.job.outcome.effective_url = slot.exchange.place().displayed;
  const bool is_clean = ending == Exchange::Ending::clean;
  if (is_clean) {
    tools_.reachability.answered(host_key(slot.exchange.place()));
    long version = CURL_HTTP_VERSION_1_1;
    check(curl_easy_getinfo(slot.exchange.handle(), CURLINFO_HTTP_VERSION, &version));
    is_multiplexed_ = version >= CURL_HTTP_VERSION_2_0;
  }
  settle_end(slot,
             is_clean ? slot.intake->finish() : slot.intake->break_off(slot.exchange.failure()));
}

void ManyFiles::settle_end(Slot& slot, End end) {
  Job& job = slot.job;
  job.outcome.transferred += slot.intake->received_bytes();
  switch (end) {
    case End::complete:
      complete(slot);
      break;
    case End::unchanged:
      unchanged(job);
      break;
    case End::failed:
      fail(std::move(job), slot.intake->failure());
      break;
    case End::more:
    case End::again:
      leftovers_.push_back(std::move(job));
      break;
  }
}

void ManyFiles::complete(Slot& slot) {
  Job& job = slot.job;
  if (job.to->matches() == base::DigestMatch::wrong) {
    tools_.observer.warn(slot.displayed + ": served corrupt data (digest mismatch)",
                         "fix or remove this source");
    job.outcome.wrong_sources.push_back(slot.displayed);
    std::string mismatch = digest_mismatch(job.request.digests, job.to->digests());
    job.to->restart();
    fail(std::move(job), {.problem = std::move(mismatch)});
    return;
  }
  job.outcome.ok = true;
  job.outcome.problem.clear();
  job.outcome.hint.clear();
  job.outcome.bytes = job.to->contiguous_bytes();
  job.outcome.etag = slot.intake->validators().etag;
  job.outcome.last_modified = slot.intake->validators().last_modified;
  done(job);
}

void ManyFiles::unchanged(Job& job) {
  job.outcome.unchanged = true;
  job.outcome.problem.clear();
  job.outcome.hint.clear();
  done(job);
}

void ManyFiles::fail(Job job, const Failure& failure) {
  const bool is_throttle = failure.retry_after > 0ms;
  if (is_throttle) throttled_to_ = std::max<std::size_t>(1, limit() / 2);
  if (failure.retryable && job.failures + 1 < policy_.attempts &&
      job.to->present_bytes() > worth_keeping_bytes) {
    leftovers_.push_back(std::move(job));
    return;
  }
  const bool is_hopeless = tools_.reachability.verdict(failure.unreachable).has_value();
  if (failure.retryable && ++job.failures < policy_.attempts && !is_hopeless &&
      failure.retry_after <= policy_.longest_wait) {
    const auto delay = backoff(policy_, job.failures, failure.retry_after, random_);
    if (tools_.reachability.is_news(failure)) {
      tools_.observer.note(fmt::format("{}: {}; trying again in {}",
                                       displayed_url(job.request.urls[job.url]),
                                       failure.problem,
                                       base::format_duration(delay)));
    }
    job.ready = tools_.clock.steady() + delay;
    if (job.to->present_bytes() > 0) job.to->restart();
    waiting_.push_back(std::move(job));
    return;
  }
  tools_.reachability.gave_up(failure);
  Outcome& outcome = job.outcome;
  const std::string place = displayed_url(job.request.urls[job.url]);
  outcome.problem += (outcome.problem.empty() ? "" : "; ") + place + ": " + failure.problem;
  if (outcome.hint.empty()) outcome.hint = failure.hint;
  outcome.retryable = outcome.retryable || failure.retryable;
  outcome.not_found = (job.url == 0 || outcome.not_found) && failure.not_found;
  outcome.access_needed = outcome.access_needed || failure.access_needed;
  add_unreachable(outcome.unreachable, job.url == 0, failure.unreachable);
  outcome.retry_after = std::max(outcome.retry_after, failure.retry_after);
  go_to_next_source(std::move(job));
}

void ManyFiles::go_to_next_source(Job job) {
  job.failures = 0;
  if (++job.url < job.request.urls.size()) {
    job.ready = tools_.clock.steady();
    waiting_.push_back(std::move(job));
    return;
  }
  job.outcome.wrong_bytes = job.outcome.wrong_sources.size() == job.request.urls.size();
  done(job);
}

void ManyFiles::done(const Job& job) {
  files_.done(job.index, job.outcome);
}

void ManyFiles::look_for_silence() {
  for (Slot& slot : slots_) {
    if (!slot.is_active || !slot.exchange.is_stuck()) continue;
    tools_.loop.remove(slot.exchange.handle());
    slot.exchange.rethrow();
    slot.is_active = false;
    --active_;
    settle_end(slot, slot.intake->break_off(slot.exchange.stuck_failure()));
  }
}

/// One after the other, with all that a single file gets.
void ManyFiles::finish_leftovers() {
  while (!leftovers_.empty()) {
    Job job = std::move(leftovers_.front());
    leftovers_.pop_front();
    job.request.retries = policy_;
    FileTransfer transfer(
        {alone_, tools_.reachability, tools_.options, tools_.clock, tools_.observer, tools_.stop},
        job.request,
        *job.to);
    Outcome outcome = transfer.run(job.request.urls);
    const bool is_wrong = outcome.ok && job.to->matches() == base::DigestMatch::wrong;
    if (is_wrong && job.was_wrong) {
      outcome.ok = false;
      outcome.wrong_bytes = true;
      outcome.problem = digest_mismatch(job.request.digests, job.to->digests());
    } else if (is_wrong) {
      job.was_wrong = true;
      job.to->restart();
      job.url = 0;
      job.failures = 0;
      waiting_.push_back(std::move(job));
      continue;
    }
    outcome.transferred += job.outcome.transferred;
    files_.done(job.index, outcome);
  }
}

void ManyFiles::run(const std::vector<std::size_t>& indices) {
  const std::stop_callback wake_up(tools_.stop, [this] { tools_.loop.wake(); });
  while (next_ < indices.size() || active_ > 0 || !waiting_.empty() || !leftovers_.empty()) {
    if (tools_.stop.stop_requested()) {
      throw base::Error(base::ErrorKind::interrupted, "the transfer was stopped");
    }
    give_out(indices);
    if (active_ == 0 && !leftovers_.empty()) finish_leftovers();
    tools_.loop.wait(100ms);
    for (const TransferLoop::Ended& ended : tools_.loop.step()) {
      const auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& each) {
        return each.exchange.handle() == ended.transfer;
      });
      if (slot != slots_.end()) settle(*slot, ended.code);
    }
    look_for_silence();
  }
}

}  // namespace sabath::fetch
