#include "answer_cache.hpp"

#include <algorithm>

namespace sabath::serve {
namespace {

constexpr std::size_t most_entries = 64;

}  // namespace

std::chrono::milliseconds pause_for(std::chrono::nanoseconds age, std::chrono::nanoseconds cost) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  constexpr milliseconds shortest = std::chrono::seconds(1);
  constexpr milliseconds longest = std::chrono::seconds(10);
  // Making an answer takes two hundredths of the time at most.
  constexpr int idle_share = 50;
  const auto by_age = std::clamp(duration_cast<milliseconds>(age / 10), shortest, longest);
  const auto by_cost = duration_cast<milliseconds>(cost * idle_share);
  return std::max(by_age, std::min<milliseconds>(by_cost, std::chrono::minutes(2)));
}

KeptAnswer AnswerCache::get(const std::string& key, const std::function<std::string()>& make) {
  const std::shared_ptr<Entry> entry = entry_of(key);
  const std::lock_guard lock(entry->mutex);
  const base::SteadyTime begin = clock_.steady();
  if (entry->kept.text && begin < entry->stale_at) {
    KeptAnswer kept = entry->kept;
    kept.pause = std::chrono::duration_cast<std::chrono::milliseconds>(entry->stale_at - begin) +
                 std::chrono::milliseconds(1);
    return kept;
  }
  std::string text = make();
  const base::SteadyTime end = clock_.steady();
  if (!entry->kept.text || *entry->kept.text != text) {
    const std::lock_guard all(mutex_);
    entry->kept.text = std::make_shared<const std::string>(std::move(text));
    entry->kept.version = ++last_version_;
    entry->changed = end;
  }
  entry->kept.pause = pause_for(end - entry->changed, end - begin);
  entry->stale_at = end + entry->kept.pause;
  return entry->kept;
}

std::shared_ptr<AnswerCache::Entry> AnswerCache::entry_of(const std::string& key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[key];
  if (!entry) entry = std::make_shared<Entry>();
  entry->used = clock_.steady();
  std::shared_ptr<Entry> found = entry;
  if (entries_.size() > most_entries) {
    const auto oldest =
        std::ranges::min_element(entries_, {}, [](const auto& one) { return one.second->used; });
    entries_.erase(oldest);
  }
  return found;
}

}  // namespace sabath::serve
