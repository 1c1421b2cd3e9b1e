#include "attempt.hpp"
#include "http/http_fetcher.hpp"
#include "http/http_stream.hpp"
#include "transfer/file_transfer.hpp"
#include "transfer/response_writer.hpp"
#include "transfer/transfer_state.hpp"
#include "wrong_sources.hpp"

#include <sabath/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <optional>
#include <random>
#include <variant>

namespace sabath::fetch {

namespace {

using namespace std::chrono_literals;

/// Streams over HTTP/2. libcurl queues the rest for a server with only HTTP/1.1.
constexpr std::size_t most_streams = 64;
/// Limit of open files that wait for a busy server.
constexpr std::size_t most_waiting = 256;
/// A partial above this size is continued; a smaller one starts again.
constexpr std::uint64_t worth_keeping_bytes = 1U << 20U;

/// One of many small files, from its opening to its outcome.
struct SmallFile {
  const std::string& source() const { return request.urls[url]; }

  /// Returns the version that is known here of what the source has.
  Validators known_version() const {
    const auto known = std::ranges::find(request.here, source(), &KnownVersion::url);
    if (known == request.here.end()) return {};
    return {known->etag, known->last_modified};
  }

  void set_complete(const Validators& version) {
    outcome.ok = true;
    outcome.problem.clear();
    outcome.hint.clear();
    outcome.bytes = to->contiguous_bytes();
    outcome.etag = version.etag;
    outcome.last_modified = version.last_modified;
  }

  void set_unchanged() {
    outcome.unchanged = true;
    outcome.problem.clear();
    outcome.hint.clear();
  }

  /// Adds the failure of the source.
  void add_failure(const Failure& failure) {
    fetch::add_failure(
        outcome, url == 0, displayed_url(source()) + ": " + failure.problem, failure);
  }

  std::size_t index = 0;
  Request request{};
  base::PartialFile* to = nullptr;
  std::size_t url = 0;     ///< number of the source in use
  int failures = 0;        ///< in a row, of that source
  bool was_wrong = false;  ///< a transfer of its own gave wrong bytes
  base::SteadyTime ready{};
  Outcome outcome{};
};

/// Many small files over HTTP, each in one stream, several at a time over connections that stay
/// open. A file that waits for its next attempt does not delay the others.
class ManyFiles {
 public:
  /// `alone`: the loop for files that need their own connections.
  ManyFiles(TransferTools tools, TransferLoop& alone, FileList& files, const RetryPolicy& policy)
      : tools_(std::move(tools)), alone_(alone), files_(files), policy_(policy) {}

  ~ManyFiles() {
    for (const Slot& slot : slots_) {
      if (slot.is_active) tools_.loop.remove(slot.stream.handle());
    }
  }

  ManyFiles(const ManyFiles&) = delete;
  ManyFiles& operator=(const ManyFiles&) = delete;

  /// Throws Error{interrupted} and what `files` throws.
  void run(const std::vector<std::size_t>& indices) {
    const std::stop_callback wake_up(tools_.stop, [this] { tools_.loop.wake(); });
    while (next_ < indices.size() || active_ > 0 || !waiting_.empty() || !leftovers_.empty()) {
      if (tools_.stop.stop_requested()) {
        throw base::Error(base::ErrorKind::interrupted, "the transfer was stopped");
      }
      give_out(indices);
      if (active_ == 0 && !leftovers_.empty()) finish_leftovers();
      tools_.loop.wait(100ms);
      for (const TransferLoop::Ended& ended : tools_.loop.step()) {
        const auto slot = std::ranges::find_if(
            slots_, [&](const Slot& each) { return each.stream.handle() == ended.transfer; });
        if (slot != slots_.end()) settle(*slot, ended.code);
      }
      look_for_silence();
    }
  }

 private:
  /// One transfer that is under way.
  struct Slot {
    Slot(const EngineOptions& options, base::Clock& clock) : stream(options, clock) {}

    HttpStream stream;
    std::optional<ResponseWriter> writer{};
    SmallFile job{};
    std::string displayed{};
    bool is_active = false;
  };

  void give_out(const std::vector<std::size_t>& indices) {
    while (active_ < limit()) {
      auto job = next_job(indices);
      if (!job) return;
      start(std::move(*job));
    }
  }

  std::optional<SmallFile> next_job(const std::vector<std::size_t>& indices) {
    const auto now = tools_.clock.steady();
    const auto ready =
        std::ranges::find_if(waiting_, [&](const SmallFile& job) { return job.ready <= now; });
    if (ready != waiting_.end()) {
      SmallFile job = std::move(*ready);
      waiting_.erase(ready);
      return job;
    }
    if (next_ == indices.size() || waiting_.size() >= most_waiting) return {};
    const std::size_t index = indices[next_++];
    SmallFile job{.index = index, .request = files_.request(index)};
    job.to = &files_.open(index);
    return job;
  }

  void start(SmallFile job) {
    const std::string& url = job.source();
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
    const Asked asked{.size_bytes = slot.job.request.size_bytes,
                      .unless_it_is = slot.job.known_version()};
    slot.writer.emplace(asked, slot.displayed, *slot.job.to);
    slot.stream.prepare(source, asked, *slot.writer, Sharing::shared_connection);
    tools_.loop.add(slot.stream.handle());
    slot.is_active = true;
    ++active_;
  }

  Slot& idle_slot() {
    const auto idle =
        std::ranges::find_if(slots_, [](const Slot& slot) { return !slot.is_active; });
    if (idle != slots_.end()) return *idle;
    return slots_.emplace_back(tools_.options, tools_.clock);
  }

  void settle(Slot& slot, CURLcode code) {
    const auto ending = slot.stream.finish(code);
    if (ending == HttpStream::Ending::elsewhere) {
      tools_.loop.add(slot.stream.handle());
      return;
    }
    slot.is_active = false;
    --active_;
    slot.job.outcome.effective_url = slot.stream.place().displayed;
    const bool is_clean = ending == HttpStream::Ending::clean;
    if (is_clean) {
      tools_.reachability.answered(host_key(slot.stream.place()));
      long version = CURL_HTTP_VERSION_1_1;
      check(curl_easy_getinfo(slot.stream.handle(), CURLINFO_HTTP_VERSION, &version));
      is_multiplexed_ = version >= CURL_HTTP_VERSION_2_0;
    }
    settle_end(slot,
               is_clean ? slot.writer->finish() : slot.writer->break_off(slot.stream.failure()));
  }

  void settle_end(Slot& slot, End end) {
    SmallFile& job = slot.job;
    job.outcome.transferred += slot.writer->received_bytes();
    switch (end) {
      case End::complete:
        complete(slot);
        break;
      case End::unchanged:
        job.set_unchanged();
        files_.done(job.index, job.outcome);
        break;
      case End::failed:
        fail(std::move(job), slot.writer->failure());
        break;
      case End::more:
      case End::again:
        leftovers_.push_back(std::move(job));
        break;
    }
  }

  void complete(Slot& slot) {
    SmallFile& job = slot.job;
    if (job.to->matches() == base::DigestMatch::wrong) {
      tools_.observer.warn(slot.displayed + ": served corrupt data (digest mismatch)",
                           "fix or remove this source");
      job.outcome.wrong_sources.push_back(slot.displayed);
      std::string mismatch = digest_mismatch(job.request.digests, job.to->digests());
      job.to->restart();
      fail(std::move(job), {.problem = std::move(mismatch)});
      return;
    }
    job.set_complete(slot.writer->validators());
    files_.done(job.index, job.outcome);
  }

  void fail(SmallFile job, const Failure& failure) {
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
                                         displayed_url(job.source()),
                                         failure.problem,
                                         base::format_duration(delay)));
      }
      job.ready = tools_.clock.steady() + delay;
      if (job.to->present_bytes() > 0) job.to->restart();
      waiting_.push_back(std::move(job));
      return;
    }
    tools_.reachability.gave_up(failure);
    job.add_failure(failure);
    go_to_next_source(std::move(job));
  }

  void go_to_next_source(SmallFile job) {
    job.failures = 0;
    if (++job.url < job.request.urls.size()) {
      job.ready = tools_.clock.steady();
      waiting_.push_back(std::move(job));
      return;
    }
    job.outcome.wrong_bytes = job.outcome.wrong_sources.size() == job.request.urls.size();
    files_.done(job.index, job.outcome);
  }

  void look_for_silence() {
    for (Slot& slot : slots_) {
      if (!slot.is_active || !slot.stream.is_stuck()) continue;
      tools_.loop.remove(slot.stream.handle());
      slot.stream.rethrow();
      slot.is_active = false;
      --active_;
      settle_end(slot, slot.writer->break_off(slot.stream.stuck_failure()));
    }
  }

  /// Fetches them one by one, as single files.
  void finish_leftovers() {
    while (!leftovers_.empty()) {
      SmallFile job = std::move(leftovers_.front());
      leftovers_.pop_front();
      job.request.retries = policy_;
      Outcome outcome = transfer_file(
          {alone_, tools_.reachability, tools_.options, tools_.clock, tools_.observer, tools_.stop},
          job.request,
          *job.to,
          job.request.urls);
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

  std::size_t limit() const {
    const std::size_t most = is_multiplexed_ ? most_streams : tools_.options.connections_per_host;
    return std::max<std::size_t>(1, std::min(most, throttled_to_));
  }

  TransferTools tools_;
  TransferLoop& alone_;
  FileList& files_;
  const RetryPolicy& policy_;
  std::list<Slot> slots_{};
  std::size_t active_ = 0;
  std::size_t next_ = 0;
  std::size_t throttled_to_ = most_streams;
  bool is_multiplexed_ = false;  ///< the last answer used HTTP/2
  std::list<SmallFile> waiting_{};
  std::list<SmallFile> leftovers_{};  ///< files that need ranges, or have another version
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

void HttpFetcher::fetch_many(FileList& files,
                             const std::vector<std::size_t>& indices,
                             const RetryPolicy& policy,
                             base::Observer& observer,
                             std::stop_token stop) {
  const TransferTools tools{
      shared_loop_, reachability_, options_, clock_, observer, std::move(stop)};
  ManyFiles(tools, loop_, files, policy).run(indices);
}

}  // namespace sabath::fetch
