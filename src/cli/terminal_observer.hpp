#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>

#include <map>
#include <mutex>
#include <string>

namespace sabath::cli {

/// Tells people on stderr, and the log, what the library does. On a terminal progress is one line
/// that is drawn over; elsewhere a plain line every ten seconds. Messages are made printable.
class TerminalObserver final : public base::Observer {
 public:
  TerminalObserver(bool quiet, base::Clock& clock);
  ~TerminalObserver() override;
  TerminalObserver(const TerminalObserver&) = delete;
  TerminalObserver& operator=(const TerminalObserver&) = delete;

  void note(std::string_view text) override;
  void warn(std::string_view text, std::string_view hint) override;
  void progress(const base::Progress& progress) override;

 private:
  struct Task {
    base::SteadyTime began{};
    base::SteadyTime drawn{};
    std::uint64_t done_at_begin = 0;
    bool shown = false;
  };
  void write_line(const std::string& line);
  void clear_line();
  static std::string line_of(const base::Progress& progress,
                             const Task& task,
                             base::SteadyTime now);

  const bool quiet_;
  const bool terminal_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Task> tasks_;
  bool line_is_drawn_ = false;
};

}  // namespace sabath::cli
