#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace sabath::execution {

/// Passes everything on, and hands over how far long tasks are, now and then and in one line; an
/// empty one when such a task has ended. `tell` is called from the threads that use the observer,
/// one at a time.
class StatusObserver final : public base::Observer {
 public:
  StatusObserver(base::Observer& inner,
                 base::Clock& clock,
                 std::function<void(const std::string&)> tell)
      : inner_(inner), clock_(clock), tell_(std::move(tell)) {}

  void note(std::string_view text) override { inner_.note(text); }
  void warn(std::string_view text, std::string_view hint) override { inner_.warn(text, hint); }
  void progress(const base::Progress& progress) override;

 private:
  void tell(const std::string& text) const;

  base::Observer& inner_;
  base::Clock& clock_;
  std::function<void(const std::string&)> tell_;
  std::mutex mutex_;
  std::optional<base::SteadyTime> told_;
};

}  // namespace sabath::execution
