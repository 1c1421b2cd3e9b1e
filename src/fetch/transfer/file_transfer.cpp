#include "file_transfer.hpp"

#include "assignment.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <variant>

namespace sabath::fetch {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t usual_piece_bytes = 1U << 20U;
constexpr std::chrono::nanoseconds longest_wait = 100ms;
/// So long a connection is not judged by its rate.
constexpr std::chrono::nanoseconds fresh = 500ms;
/// What a connection may have brought before it counts as one that brought something.
constexpr double unnoticed_bytes = 64 << 10;

/// What it may be thought to bring. One that brought nothing for longer than others need to begin
/// is not as fast as they are: a server that has its fill of connections lets some of them wait.
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

std::string name_of(const Request& request, const std::string& url) {
  return request.label.empty() ? displayed_url(url) : request.label;
}

}  // namespace

FileTransfer::FileTransfer(TransferTools tools, const Request& request, base::StagedFile& to)
    : tools_(std::move(tools)),
      request_(request),
      to_(to),
      meter_(name_of(request, request.urls.empty() ? std::string() : request.urls.front()),
             tools_.observer,
             tools_.clock) {}

FileTransfer::~FileTransfer() {
  for (const auto& worker : workers_) {
    if (worker->is_active) tools_.loop.remove(worker->exchange.handle());
  }
}

Host& FileTransfer::host_of(const std::string& name) {
  const auto known = std::find_if(
      hosts_.begin(), hosts_.end(), [&](const Host& host) { return host.name == name; });
  if (known != hosts_.end()) return *known;
  return hosts_.emplace_back(name, tools_.options.connections_per_host);
}

void FileTransfer::add_mirrors(const std::vector<std::string>& urls) {
  for (const std::string& url : urls) {
    auto parsed = parse_source_url(url);
    if (auto* failure = std::get_if<Failure>(&parsed)) {
      malformed_.emplace_back(url, *failure);
      continue;
    }
    auto& source = std::get<SourceUrl>(parsed);
    Host& host = host_of(host_key(source));
    mirrors_.emplace_back(std::move(source), name_among(request_.urls, url), host);
    mirrors_.back().final_failure = tools_.reachability.verdict(host.name);
  }
}

void FileTransfer::read_present() {
  there_.clear();
  for (const base::SourcedRange& part : to_.present())
    there_.add(part.range);
}

/// What an earlier attempt left, and what its sources said of its version.
void FileTransfer::read_partial() {
  const auto present = to_.present();
  if (request_.size_bytes && !present.empty() && present.back().range.end > *request_.size_bytes) {
    to_.restart();
    return;
  }
  read_present();
  const auto& sources = to_.sources();
  for (Mirror& mirror : mirrors_) {
    const auto kept = std::find_if(sources.rbegin(), sources.rend(), [&](const auto& source) {
      return source.url == mirror.name;
    });
    if (kept == sources.rend()) continue;
    const Validators validators{kept->etag, kept->last_modified};
    const unsigned number = to_.number_of(base::ByteSource(*kept));
    const auto is_of_it = [&](const base::SourcedRange& part) { return part.source == number; };
    const bool is_alone = std::all_of(present.begin(), present.end(), is_of_it);
    if (!is_proved_later() && !(is_alone && validators.can_prove())) continue;
    if (std::none_of(present.begin(), present.end(), is_of_it)) continue;
    mirror.validators = validators;
    mirror.number = number;
    mirror.is_bound = true;
  }
  const bool is_all = there_.bytes() == request_.size_bytes;
  if (is_all && (there_.bytes() > 0 || is_proved_later())) size_ = request_.size_bytes;
}

std::vector<Worker*> FileTransfer::active_workers() const {
  std::vector<Worker*> active;
  for (const auto& worker : workers_) {
    if (worker->is_active && !worker->is_cancelled) active.push_back(worker.get());
  }
  return active;
}

unsigned FileTransfer::active_on(const Host& host) const {
  return static_cast<unsigned>(
      std::count_if(workers_.begin(), workers_.end(), [&](const auto& worker) {
        return worker->is_active && worker->mirror->host == &host;
      }));
}

Worker& FileTransfer::idle_worker() {
  // One that has delivered has a connection that is open.
  const auto idle =
      std::max_element(workers_.begin(), workers_.end(), [](const auto& a, const auto& b) {
        return (!a->is_active) + (!a->is_active && a->has_delivered) <
               (!b->is_active) + (!b->is_active && b->has_delivered);
      });
  if (idle != workers_.end() && !(*idle)->is_active) return **idle;
  workers_.push_back(std::make_unique<Worker>(
      tools_.options, tools_.clock, to_, there_, [this](Worker& worker, const Answer& answer) {
        return accept(worker, answer);
      }));
  return *workers_.back();
}

bool FileTransfer::may_ask(const Mirror& mirror, base::SteadyTime now) const {
  if (!mirror.is_alive() || mirror.is_resolving) return false;
  if (now < mirror.embargo || now < mirror.host->embargo) return false;
  if (mirror.ranges != Ranges::served && mirror.connections > 0) return false;
  if (active_on(*mirror.host) >= mirror.host->climb.target()) return false;
  if (is_proved_later()) return true;
  // Versions of two sources cannot be told to be the same: one source at a time.
  const auto first = std::find_if(
      mirrors_.begin(), mirrors_.end(), [](const Mirror& each) { return each.is_alive(); });
  return &*first == &mirror;
}

std::optional<base::ByteRange> FileTransfer::next_range(const Mirror& mirror) {
  const auto size = known_size();
  const bool continues = mirror.is_bound || is_proved_later();
  if (size && continues && mirror.ranges != Ranges::not_served) return next_share(mirror, *size);
  if (!active_workers().empty()) return {};
  if (mirror.ranges == Ranges::not_served)
    return base::ByteRange{0, size.value_or(Coverage::endless)};
  const std::uint64_t begin = continues ? there_.first_missing(0) : 0;
  // Of unknown size: some servers take an end beyond the file's for a mistake.
  return base::ByteRange{
      begin, size.value_or(0) > 0 ? std::min(begin + first_range_bytes, *size) : Coverage::endless};
}

std::optional<base::ByteRange> FileTransfer::next_share(const Mirror& mirror,
                                                        std::uint64_t size_bytes) {
  const auto active = active_workers();
  const auto now = tools_.clock.steady();
  std::vector<InUse> in_use;
  for (Worker* const worker : active) {
    worker->measure(now);
    in_use.push_back(expected_of(*worker, now));
  }
  const std::uint64_t piece = size_ ? to_.piece_bytes() : usual_piece_bytes;
  const Applicant applicant{mirror.rate, Seconds(mirror.response).count()};
  const auto share = assign(there_, size_bytes, piece, in_use, applicant);
  if (!share) return {};
  if (share->from) {
    Worker& victim = *active[*share->from];
    victim.range.end = share->range.begin;
    if (victim.is_done()) victim.is_cancelled = true;
  }
  return share->range;
}

void FileTransfer::start(Mirror& mirror, base::ByteRange range) {
  Asked asked{.size_bytes = request_.size_bytes,
              .continues = mirror.is_bound,
              .is_proved_later = is_proved_later()};
  if (is_proved_later() && size_) asked.size_bytes = size_;
  if (mirror.is_bound) asked.validators = mirror.validators;
  if (mirror.ranges != Ranges::not_served && (range.begin > 0 || range.end != known_size())) {
    asked.offset_bytes = range.begin;
    asked.from_start = true;
    if (range.end != Coverage::endless) asked.end_bytes = range.end;
  }
  Worker& worker = idle_worker();
  worker.start(mirror, asked, range);
  tools_.loop.add(worker.exchange.handle());
}

void FileTransfer::assign_work() {
  const auto now = tools_.clock.steady();
  for (bool gave = true; gave;) {
    gave = false;
    for (Mirror& mirror : mirrors_) {
      if (is_complete() || !may_ask(mirror, now)) continue;
      const auto range = next_range(mirror);
      if (!range) continue;
      start(mirror, *range);
      gave = true;
    }
  }
  for (const auto& worker : workers_)
    worker->has_delivered = worker->has_delivered && worker->is_active;
}

void FileTransfer::climb() {
  bool grew = false;
  for (Host& host : hosts_) {
    unsigned active = 0;
    unsigned delivered = 0;
    std::chrono::nanoseconds response{0};
    for (const auto& worker : workers_) {
      if (!worker->is_active || worker->mirror->host != &host) continue;
      ++active;
      if (worker->has_delivered) ++delivered;
      response = std::max(response, worker->mirror->response);
    }
    const unsigned before = host.climb.target();
    host.climb.tell(tools_.clock.steady(), host.bytes, active, delivered, response, waited_);
    grew = grew || host.climb.target() > before;
  }
  if (grew) assign_work();
}

std::chrono::nanoseconds FileTransfer::time_to_wait() const {
  const auto now = tools_.clock.steady();
  auto until = now + longest_wait;
  for (const Host& host : hosts_)
    until = std::min(until, host.climb.next_look());
  for (const Mirror& mirror : mirrors_) {
    const auto embargo = std::max(mirror.embargo, mirror.host->embargo);
    if (mirror.is_alive() && embargo > now) until = std::min(until, embargo);
  }
  return std::max<std::chrono::nanoseconds>(until - now, 0ns);
}

void FileTransfer::tell(bool at_once) {
  unsigned connections = 0;
  for (const Worker* worker : active_workers())
    connections += worker->has_delivered ? 1 : 0;
  const auto sources = std::count_if(mirrors_.begin(), mirrors_.end(), [](const Mirror& mirror) {
    return mirror.connections > 0 && mirror.bytes > 0;
  });
  const auto told = at_once ? &ProgressMeter::tell_now : &ProgressMeter::tell;
  (meter_.*told)(there_.bytes(), known_size(), connections, static_cast<unsigned>(sources));
}

void FileTransfer::move_on() {
  for (const TransferLoop::Ended& ended : tools_.loop.step()) {
    const auto worker = std::find_if(workers_.begin(), workers_.end(), [&](const auto& each) {
      return each->exchange.handle() == ended.transfer;
    });
    if (worker != workers_.end()) settle(**worker, ended.code);
  }
  look_for_silence();
  for (const auto& worker : workers_) {
    if (!worker->is_active || !worker->is_cancelled) continue;
    tools_.loop.remove(worker->exchange.handle());
    worker->exchange.rethrow();
    release(*worker);
  }
}

Outcome FileTransfer::run(const std::vector<std::string>& urls) {
  add_mirrors(urls);
  read_partial();
  const std::stop_callback wake_up(tools_.stop, [this] { tools_.loop.wake(); });
  while (!is_complete()) {
    if (tools_.stop.stop_requested()) {
      throw base::Error(base::ErrorKind::interrupted,
                        name_of(request_, urls.front()) + ": the transfer was stopped");
    }
    assign_work();
    climb();
    const bool is_hopeless = std::none_of(
        mirrors_.begin(), mirrors_.end(), [](const Mirror& mirror) { return mirror.is_alive(); });
    if (is_hopeless && active_workers().empty()) break;
    const auto begin = tools_.clock.steady();
    tools_.loop.wait(time_to_wait());
    waited_ += tools_.clock.steady() - begin;
    move_on();
    tell(false);
  }
  if (transferred_ > 0 || there_.bytes() > 0) tell(true);
  return outcome();
}

}  // namespace sabath::fetch
