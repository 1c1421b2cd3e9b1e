#include "file_transfer.hpp"

#include "answer_handler.hpp"
#include "assignment.hpp"
#include "attempt.hpp"
#include "progress_meter.hpp"

#include <sabath/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sabath::fetch {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds longest_wait = 100ms;
constexpr std::uint64_t usual_piece_bytes = 1U << 20U;
/// Age below which a connection is not judged by its rate.
constexpr std::chrono::nanoseconds fresh = 500ms;
/// Bytes below which a connection counts as one that delivered nothing.
constexpr double unnoticed_bytes = 64 << 10;

/// Returns the expected work of a connection. One that delivers nothing for longer than others need
/// to begin is slower: a busy server lets some connections wait.
InUse expected_of(const Worker& worker, base::SteadyTime now) {
  InUse expected{worker.rest(), worker.rate() > 0 ? worker.rate() : worker.mirror->rate, false};
  if (worker.rate() > 0) return expected;
  const auto age = now - worker.started;
  if (age < std::max(fresh, 4 * worker.mirror->response)) {
    expected.is_fresh = expected.rate <= 0;
  } else {
    const double seconds = std::chrono::duration<double>(age).count();
    expected.rate = std::min(expected.rate, unnoticed_bytes / seconds);
  }
  return expected;
}

/// Gives ranges of the file to its sources, over as many connections as their hosts bear.
class WorkAssigner {
 public:
  /// `accept` judges the answers.
  WorkAssigner(TransferState& state, Worker::Accept accept)
      : state_(state), accept_(std::move(accept)) {}

  void assign_work() {
    const auto now = state_.tools.clock.steady();
    for (bool gave = true; gave;) {
      gave = false;
      for (Mirror& mirror : state_.mirrors) {
        if (state_.is_complete() || !may_ask(mirror, now)) continue;
        const auto range = next_range(mirror);
        if (!range) continue;
        start(mirror, *range);
        gave = true;
      }
    }
    for (const auto& worker : state_.workers)
      worker->has_delivered = worker->has_delivered && worker->is_active;
  }

  /// Adapts the number of connections to each host. `waited`: time without work, in all.
  void tune_connections(std::chrono::nanoseconds waited) {
    bool grew = false;
    for (Host& host : state_.hosts) {
      unsigned active = 0;
      unsigned delivered = 0;
      std::chrono::nanoseconds response{0};
      for (const auto& worker : state_.workers) {
        if (!worker->is_active || worker->mirror->host != &host) continue;
        ++active;
        if (worker->has_delivered) ++delivered;
        response = std::max(response, worker->mirror->response);
      }
      const unsigned before = host.tuner.target();
      host.tuner.observe(
          state_.tools.clock.steady(), host.bytes, active, delivered, response, waited);
      grew = grew || host.tuner.target() > before;
    }
    if (grew) assign_work();
  }

 private:
  bool may_ask(const Mirror& mirror, base::SteadyTime now) const {
    if (!mirror.is_alive() || mirror.is_resolving) return false;
    if (now < mirror.embargo || now < mirror.host->embargo) return false;
    if (mirror.ranges != Ranges::served && mirror.connections > 0) return false;
    if (state_.active_on(*mirror.host) >= mirror.host->tuner.target()) return false;
    if (state_.is_proved_later()) return true;
    // Without a digest, versions of two sources cannot be compared: one source at a time.
    const auto first =
        std::ranges::find_if(state_.mirrors, [](const Mirror& each) { return each.is_alive(); });
    return &*first == &mirror;
  }

  std::optional<base::ByteRange> next_range(const Mirror& mirror) {
    const auto size = state_.known_size();
    const bool continues = mirror.is_bound || state_.is_proved_later();
    if (size && continues && mirror.ranges != Ranges::not_served) return next_share(mirror, *size);
    if (!state_.active_workers().empty()) return {};
    if (mirror.ranges == Ranges::not_served)
      return base::ByteRange{0, size.value_or(Coverage::endless)};
    const std::uint64_t begin = continues ? state_.there.first_missing(0) : 0;
    // The size is unknown: some servers refuse an end beyond the file's.
    return base::ByteRange{
        begin,
        size.value_or(0) > 0 ? std::min(begin + first_range_bytes, *size) : Coverage::endless};
  }

  std::optional<base::ByteRange> next_share(const Mirror& mirror, std::uint64_t size_bytes) {
    const auto active = state_.active_workers();
    const auto now = state_.tools.clock.steady();
    std::vector<InUse> in_use;
    for (Worker* const worker : active) {
      worker->measure(now);
      in_use.push_back(expected_of(*worker, now));
    }
    const std::uint64_t piece = state_.size ? state_.to.piece_bytes() : usual_piece_bytes;
    const Applicant applicant{mirror.rate, std::chrono::duration<double>(mirror.response).count()};
    const auto share = assign(state_.there, size_bytes, piece, in_use, applicant);
    if (!share) return {};
    if (share->from) {
      Worker& victim = *active[*share->from];
      victim.range.end = share->range.begin;
      if (victim.is_done()) victim.is_cancelled = true;
    }
    return share->range;
  }

  Worker& idle_worker() {
    // A worker that has delivered has an open connection.
    const auto idle = std::ranges::max_element(state_.workers, [](const auto& a, const auto& b) {
      return (!a->is_active) + (!a->is_active && a->has_delivered) <
             (!b->is_active) + (!b->is_active && b->has_delivered);
    });
    if (idle != state_.workers.end() && !(*idle)->is_active) return **idle;
    state_.workers.push_back(std::make_unique<Worker>(
        state_.tools.options, state_.tools.clock, state_.to, state_.there, accept_));
    return *state_.workers.back();
  }

  void start(Mirror& mirror, base::ByteRange range) {
    Asked asked{.size_bytes = state_.request.size_bytes,
                .continues = mirror.is_bound,
                .is_proved_later = state_.is_proved_later()};
    if (state_.is_proved_later() && state_.size) asked.size_bytes = state_.size;
    if (mirror.is_bound) asked.validators = mirror.validators;
    if (mirror.ranges != Ranges::not_served &&
        (range.begin > 0 || range.end != state_.known_size())) {
      asked.offset_bytes = range.begin;
      asked.from_start = true;
      if (range.end != Coverage::endless) asked.end_bytes = range.end;
    }
    Worker& worker = idle_worker();
    worker.start(mirror, asked, range);
    state_.tools.loop.add(worker.stream.handle());
  }

  TransferState& state_;
  Worker::Accept accept_;
};

std::string name_of(const Request& request, const std::string& url) {
  return request.label.empty() ? displayed_url(url) : request.label;
}

class FileTransfer {
 public:
  FileTransfer(TransferTools tools, const Request& request, base::PartialFile& to)
      : state_(std::move(tools), request, to),
        work_(state_,
              [this](Worker& worker, const Answer& answer) {
                return answers_.accept(worker, answer);
              }),
        meter_(name_of(request, request.urls.empty() ? std::string() : request.urls.front()),
               state_.tools.observer,
               state_.tools.clock) {}

  Outcome run(const std::vector<std::string>& urls) {
    add_mirrors(urls);
    read_partial();
    const std::stop_callback wake_up(state_.tools.stop, [this] { state_.tools.loop.wake(); });
    while (!state_.is_complete()) {
      if (state_.tools.stop.stop_requested()) {
        throw base::Error(base::ErrorKind::interrupted,
                          name_of(state_.request, urls.front()) + ": the transfer was stopped");
      }
      work_.assign_work();
      work_.tune_connections(waited_);
      if (!state_.has_live_mirror() && state_.active_workers().empty()) break;
      const auto begin = state_.tools.clock.steady();
      state_.tools.loop.wait(time_to_wait());
      waited_ += state_.tools.clock.steady() - begin;
      move_on();
      report(false);
    }
    if (state_.transferred > 0 || state_.there.bytes() > 0) report(true);
    return outcome();
  }

 private:
  void add_mirrors(const std::vector<std::string>& urls) {
    for (const std::string& url : urls) {
      auto parsed = parse_source_url(url);
      if (auto* failure = std::get_if<Failure>(&parsed)) {
        malformed_.emplace_back(url, *failure);
        continue;
      }
      auto& source = std::get<SourceUrl>(parsed);
      Host& host = host_of(host_key(source));
      state_.mirrors.emplace_back(std::move(source), name_among(state_.request.urls, url), host);
      state_.mirrors.back().final_failure = state_.tools.reachability.verdict(host.name);
    }
  }

  Host& host_of(const std::string& name) {
    const auto known = std::ranges::find(state_.hosts, name, &Host::name);
    if (known != state_.hosts.end()) return *known;
    return state_.hosts.emplace_back(name, state_.tools.options.connections_per_host);
  }

  /// Reads the bytes of an earlier attempt and the validators of their sources.
  void read_partial() {
    const auto present = state_.to.present();
    if (state_.request.size_bytes && !present.empty() &&
        present.back().range.end > *state_.request.size_bytes) {
      state_.to.restart();
      return;
    }
    state_.read_present();
    const auto& sources = state_.to.sources();
    for (Mirror& mirror : state_.mirrors) {
      const auto kept = std::find_if(sources.rbegin(), sources.rend(), [&](const auto& source) {
        return source.url == mirror.name;
      });
      if (kept == sources.rend()) continue;
      const Validators validators{kept->etag, kept->last_modified};
      const unsigned number = state_.to.number_of(base::ByteSource(*kept));
      const auto is_of_it = [&](const base::SourcedRange& part) { return part.source == number; };
      const bool is_alone = std::ranges::all_of(present, is_of_it);
      if (!state_.is_proved_later() && !(is_alone && validators.can_prove())) continue;
      if (std::ranges::none_of(present, is_of_it)) continue;
      mirror.validators = validators;
      mirror.number = number;
      mirror.is_bound = true;
    }
    const bool is_all = state_.there.bytes() == state_.request.size_bytes;
    if (is_all && (state_.there.bytes() > 0 || state_.is_proved_later()))
      state_.size = state_.request.size_bytes;
  }

  void move_on() {
    for (const TransferLoop::Ended& ended : state_.tools.loop.step()) {
      const auto worker = std::ranges::find_if(state_.workers, [&](const auto& each) {
        return each->stream.handle() == ended.transfer;
      });
      if (worker != state_.workers.end()) answers_.settle(**worker, ended.code);
    }
    failures_.look_for_silence();
    for (const auto& worker : state_.workers) {
      if (!worker->is_active || !worker->is_cancelled) continue;
      state_.tools.loop.remove(worker->stream.handle());
      worker->stream.rethrow();
      state_.release(*worker);
    }
  }

  std::chrono::nanoseconds time_to_wait() const {
    const auto now = state_.tools.clock.steady();
    auto until = now + longest_wait;
    for (const Host& host : state_.hosts)
      until = std::min(until, host.tuner.next_look());
    for (const Mirror& mirror : state_.mirrors) {
      const auto embargo = std::max(mirror.embargo, mirror.host->embargo);
      if (mirror.is_alive() && embargo > now) until = std::min(until, embargo);
    }
    return std::max<std::chrono::nanoseconds>(until - now, 0ns);
  }

  void report(bool at_once) {
    unsigned connections = 0;
    for (const Worker* worker : state_.active_workers())
      connections += worker->has_delivered ? 1 : 0;
    const auto sources = std::ranges::count_if(state_.mirrors, [](const Mirror& mirror) {
      return mirror.connections > 0 && mirror.bytes > 0;
    });
    const auto report_as = at_once ? &ProgressMeter::report_now : &ProgressMeter::report;
    (meter_.*report_as)(
        state_.there.bytes(), state_.known_size(), connections, static_cast<unsigned>(sources));
  }

  Outcome outcome() const {
    if (state_.mirrors.empty()) {
      return failed_outcome(malformed_.front().first, malformed_.front().second);
    }
    Outcome outcome;
    outcome.ok = state_.is_complete();
    outcome.transferred = state_.transferred;
    for (const auto& worker : state_.workers)
      outcome.transferred += worker->received;
    const Mirror* best = &state_.mirrors.front();
    for (const Mirror& mirror : state_.mirrors) {
      const bool is_better = outcome.ok ? mirror.bytes > best->bytes : true;
      if (is_better) best = &mirror;
    }
    outcome.url = best->source.plain;
    outcome.effective_url = best->effective.empty() ? best->source.displayed : best->effective;
    outcome.etag = best->validators.etag;
    outcome.last_modified = best->validators.last_modified;
    if (outcome.ok) {
      outcome.bytes = *state_.size;
    } else {
      put_problems(outcome);
    }
    return outcome;
  }

  void put_problems(Outcome& outcome) const {
    struct Part {
      std::string place;
      std::string effective;
      const Failure* failure;
    };
    std::vector<Part> parts;
    for (const Mirror& mirror : state_.mirrors) {
      parts.push_back({mirror.source.displayed, mirror.effective, &*mirror.final_failure});
    }
    for (const auto& [url, failure] : malformed_)
      parts.push_back({displayed_url(url), {}, &failure});
    for (const Part& part : parts) {
      const Failure& failure = *part.failure;
      std::string text = failure.problem;
      if (parts.size() > 1) {
        const bool was_elsewhere = !part.effective.empty() && part.effective != part.place;
        text = part.place + ": " + text;
        if (was_elsewhere) text += fmt::format(" (after a redirect to {})", part.effective);
      }
      add_failure(outcome, &part == parts.data(), text, failure);
    }
  }

  TransferState state_;
  TransferFailures failures_{state_};
  AnswerHandler answers_{state_, failures_};
  WorkAssigner work_;
  std::vector<std::pair<std::string, Failure>> malformed_{};
  ProgressMeter meter_;
  std::chrono::nanoseconds waited_{};  ///< for the network
};

}  // namespace

Outcome transfer_file(const TransferTools& tools,
                      const Request& request,
                      base::PartialFile& to,
                      const std::vector<std::string>& urls) {
  return FileTransfer(tools, request, to).run(urls);
}

}  // namespace sabath::fetch
