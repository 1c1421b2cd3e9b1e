#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace sabath::execution {

/// Observer that passes everything on, and reports the progress of long tasks as one line now and
/// then; as an empty line when such a task has ended. `report` is called from the threads that use
/// the observer, one at a time.
class StatusObserver final : public base::Observer {
 public:
  StatusObserver(base::Observer& inner,
                 base::Clock& clock,
                 std::function<void(const std::string&)> report)
      : inner_(inner), clock_(clock), report_(std::move(report)) {}

  void note(std::string_view text) override { inner_.note(text); }
  void warn(std::string_view text, std::string_view hint) override { inner_.warn(text, hint); }
  void progress(const base::Progress& progress) override;

 private:
  void report(const std::string& text) const;

  base::Observer& inner_;
  base::Clock& clock_;
  std::function<void(const std::string&)> report_;
  std::mutex mutex_;
  std::optional<base::SteadyTime> reported_;
};

}  // namespace sabath::execution
