#pragma once

#include "stop/divergence.hpp"

#include <sabath/spec/recipe.hpp>

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace sabath::execution {

/// What may stop a run before its end, and why it did. Thread safety: all functions.
class RunStop {
 public:
  /// `recipe` must outlive it.
  RunStop(const spec::Recipe& recipe, std::optional<FinishedRun> reference)
      : recipe_(recipe), reference_(std::move(reference)) {}

  const spec::Recipe& recipe() const { return recipe_; }
  const std::optional<FinishedRun>& reference() const { return reference_; }

  /// Stops all stages. The first reason counts. `diverged`: it differs from the reference.
  void stop(const std::string& reason, bool diverged) {
    {
      const std::lock_guard lock(mutex_);
      if (!reason_) {
        reason_ = reason;
        diverged_ = diverged;
      }
    }
    source_.request_stop();
  }
  /// Stops all stages without a reason: the run is interrupted.
  void interrupt() { source_.request_stop(); }
  std::stop_token token() const { return source_.get_token(); }
  std::optional<std::string> reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }
  bool has_diverged() const {
    const std::lock_guard lock(mutex_);
    return diverged_;
  }

 private:
  const spec::Recipe& recipe_;
  std::optional<FinishedRun> reference_;
  std::stop_source source_{};
  mutable std::mutex mutex_{};
  std::optional<std::string> reason_{};
  bool diverged_ = false;
};

}  // namespace sabath::execution
