#include "workers.h"

#include "error.h"

#include <system_error>
#include <utility>

namespace supercell {

Workers::Workers(int count) : count_(count), failures_(static_cast<std::size_t>(count)) {
  threads_.reserve(static_cast<std::size_t>(count - 1));
  try {
    for (int rank = 1; rank < count; ++rank) {
      threads_.emplace_back([this, rank] { serve(rank); });
    }
  } catch (const std::system_error& cause) {
    const std::string started = std::to_string(threads_.size() + 1);
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
      thread.join();
    throw Error("threads: only " + started + " of " + std::to_string(count) +
                " could be started: " + cause.what());
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void Workers::run(const std::function<void(int)>& task) {
  if (count_ == 1) {
    task(0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    busy_ = count_ - 1;
    ++generation_;
  }
  wake_.notify_all();
  work(0);
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }
  for (std::exception_ptr& failure : failures_) {
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }
}

void Workers::serve(int rank) {
  std::size_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    work(rank);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void Workers::work(int rank) noexcept {
  try {
    (*task_)(rank);
  } catch (...) {
    failures_[static_cast<std::size_t>(rank)] = std::current_exception();
  }
}

}  // namespace supercell
