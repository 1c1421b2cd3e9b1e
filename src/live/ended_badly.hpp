#pragma once

#include <sabath/base/clock.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace sabath::live {

class ViewState;

/// The runs that ended badly in the last day. The catalog is asked again where it has news, and
/// once a minute: they leave the list a day later.
class EndedBadly {
 public:
  /// The newest of them, as JSON.
  const std::string& text(ViewState& state);

 private:
  static constexpr std::chrono::seconds between_questions{60};
  static constexpr std::size_t most = 20;

  std::string text_{};
  std::uint64_t version_ = 0;
  std::optional<base::SteadyTime> asked_{};
};

}  // namespace sabath::live
