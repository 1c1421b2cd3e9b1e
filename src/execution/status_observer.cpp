#include "status_observer.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

namespace sabath::execution {
namespace {

constexpr std::chrono::seconds between{10};

std::string text_of(const base::Progress& progress) {
  const auto amount = [&](std::uint64_t count) {
    return progress.in_bytes ? base::format_bytes(count) : std::to_string(count);
  };
  return progress.task + ": " + amount(progress.done) +
         (progress.total ? " of " + amount(*progress.total) : "");
}

}  // namespace

void StatusObserver::progress(const base::Progress& progress) {
  inner_.progress(progress);
  const std::lock_guard lock(mutex_);
  const base::SteadyTime now = clock_.steady();
  if (progress.finished) {
    if (reported_) report({});
    reported_.reset();
  } else if (!reported_ || now - *reported_ >= between) {
    reported_ = now;
    report(text_of(progress));
  }
}

/// The task continues where the status cannot be written.
void StatusObserver::report(const std::string& text) const {
  try {
    report_(text);
  } catch (const base::Error&) {
  }
}

}  // namespace sabath::execution
