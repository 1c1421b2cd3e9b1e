#include "transfer_state.hpp"

#include "attempt.hpp"

#include <algorithm>

namespace sabath::fetch {

TransferState::~TransferState() {
  for (const auto& worker : workers) {
    if (worker->is_active) tools.loop.remove(worker->stream.handle());
  }
}

bool TransferState::has_live_mirror() const {
  return std::ranges::any_of(mirrors, [](const Mirror& mirror) { return mirror.is_alive(); });
}

void TransferState::read_present() {
  there.clear();
  for (const base::SourcedRange& part : to.present())
    there.add(part.range);
}

std::vector<Worker*> TransferState::active_workers() const {
  std::vector<Worker*> active;
  for (const auto& worker : workers) {
    if (worker->is_active && !worker->is_cancelled) active.push_back(worker.get());
  }
  return active;
}

unsigned TransferState::active_on(const Host& host) const {
  return static_cast<unsigned>(std::ranges::count_if(workers, [&](const auto& worker) {
    return worker->is_active && worker->mirror->host == &host;
  }));
}

void TransferState::learn_size(std::uint64_t size_bytes) {
  if (!size) {
    size = size_bytes;
    to.reserve(size_bytes);
  }
  for (Worker* const worker : active_workers())
    worker->range.end = std::min(worker->range.end, size_bytes);
}

void TransferState::start_over() {
  to.restart();
  there.clear();
  size.reset();
  for (Mirror& mirror : mirrors) {
    mirror.is_bound = false;
    mirror.validators = {};
  }
}

void TransferState::forget_version(Mirror& mirror) {
  const bool gave_bytes = mirror.is_bound;
  mirror.is_bound = false;
  mirror.validators = {};
  if (!is_proved_later()) {
    cancel_all(nullptr);
    note_start_over(
        mirror.name, there.bytes(), "the file has changed at the source", tools.observer);
    start_over();
    return;
  }
  cancel_all(&mirror);
  for (const base::SourcedRange& part : to.present()) {
    if (gave_bytes && part.source == mirror.number) to.drop(part.range);
  }
  read_present();
  const bool is_known_otherwise =
      std::ranges::any_of(mirrors, [](const Mirror& each) { return each.is_bound; });
  if (!is_known_otherwise && there.bytes() == 0) size.reset();
}

void TransferState::cancel_all(const Mirror* mirror, const Worker* except) {
  for (const auto& worker : workers) {
    const bool is_meant = mirror == nullptr || worker->mirror == mirror;
    if (worker->is_active && is_meant && worker.get() != except) worker->is_cancelled = true;
  }
}

void TransferState::release(Worker& worker) {
  transferred += worker.received;
  worker.received = 0;
  worker.is_active = false;
  --worker.mirror->connections;
  if (worker.resolves) worker.mirror->is_resolving = false;
}

}  // namespace sabath::fetch
