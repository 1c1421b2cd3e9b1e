#pragma once

#include <sabath/base/observer.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace sabath::test {

/// Remembers what the library told.
class RecordingObserver final : public base::Observer {
 public:
  void note(std::string_view text) override { remember(notes, std::string(text)); }
  void warn(std::string_view text, std::string_view) override {
    remember(warnings, std::string(text));
  }
  void progress(const base::Progress& progress) override { remember(progresses, progress); }

  std::vector<std::string> notes{};
  std::vector<std::string> warnings{};
  std::vector<base::Progress> progresses{};

 private:
  template <class T>
  void remember(std::vector<T>& where, T what) {
    const std::lock_guard lock(mutex_);
    where.push_back(std::move(what));
  }
  std::mutex mutex_;
};

}  // namespace sabath::test
