#pragma once

#include <sabath/base/clock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace sabath::serve {

/// An answer, its version, and when to ask again.
struct KeptAnswer {
  std::shared_ptr<const std::string> text{};
  std::uint64_t version = 0;  ///< another text has another one
  std::chrono::milliseconds pause{};
};

/// Answers that are shared by all who ask the same. Each is made again once it is old: after a
/// second at first, and more seldom the longer it has not changed and the longer making it takes.
/// Thread safety: all members. Of several threads that want the same answer one makes it.
class AnswerCache {
 public:
  explicit AnswerCache(base::Clock& clock) : clock_(clock) {}

  /// Throws what `make` throws; then nothing is kept.
  KeptAnswer get(const std::string& key, const std::function<std::string()>& make);

 private:
  struct Entry {
    std::mutex mutex{};
    KeptAnswer kept{};
    base::SteadyTime changed{};
    base::SteadyTime stale_at{};
    base::SteadyTime used{};
  };
  std::shared_ptr<Entry> entry_of(const std::string& key);

  base::Clock& clock_;
  std::mutex mutex_{};
  std::map<std::string, std::shared_ptr<Entry>> entries_{};
  std::uint64_t last_version_ = 0;
};

/// Pause before an answer is made again that last changed `age` ago and took `cost` to make.
std::chrono::milliseconds pause_for(std::chrono::nanoseconds age, std::chrono::nanoseconds cost);

}  // namespace sabath::serve
