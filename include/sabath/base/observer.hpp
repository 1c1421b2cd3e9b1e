#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

/// Progress of a long task. Repeated with the same `task` text; `finished` ends it.
struct Progress {
  std::string task{};
  std::uint64_t done = 0;
  std::optional<std::uint64_t> total{};
  bool in_bytes = true;  ///< else counts
  bool finished = false;
  unsigned connections = 0;  ///< of a transfer: how many are open now; 0: does not apply
  unsigned sources = 0;      ///< of a transfer: how many mirrors give bytes now
};

/// Receiver of the library's events; the library never prints. Thread safety: any thread.
class Observer {
 public:
  virtual ~Observer() = default;
  /// A step that a person wants to see ("building environment layer 'code' with cmake").
  virtual void note(std::string_view text) = 0;
  /// Something that is not an error but that a person should know.
  virtual void warn(std::string_view text, std::string_view hint = {}) = 0;
  virtual void progress(const Progress& progress) = 0;
};

/// Ignores all events.
class SilentObserver final : public Observer {
 public:
  void note(std::string_view) override {}
  void warn(std::string_view, std::string_view) override {}
  void progress(const Progress&) override {}
};

}  // namespace sabath::base
