#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace sabath::cli {

/// What the library tells, as JSON lines with a "type": "progress", "note" or "warning". Progress
/// of one task comes twice a second at most, and when it ends.
class EventLines final : public base::Observer {
 public:
  using Write = std::function<void(std::string_view line)>;
  EventLines(Write write, base::Clock& clock) : write_(std::move(write)), clock_(clock) {}

  void note(std::string_view text) override;
  void warn(std::string_view text, std::string_view hint) override;
  void progress(const base::Progress& progress) override;

 private:
  Write write_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, base::SteadyTime> reported_{};
};

}  // namespace sabath::cli
