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
    if (told_) tell({});
    told_.reset();
  } else if (!told_ || now - *told_ >= between) {
    told_ = now;
    tell(text_of(progress));
  }
}

/// What is done goes on where nobody can be told how far it is.
void StatusObserver::tell(const std::string& text) const {
  try {
    tell_(text);
  } catch (const base::Error&) {
  }
}

}  // namespace sabath::execution
