#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace supercell {

// Half-open range of indices.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

// The contiguous share of `items` things that worker `rank` of `count` takes; may be empty.
constexpr Range share_of(std::size_t items, int rank, int count) {
  const auto r = static_cast<std::size_t>(rank);
  const auto n = static_cast<std::size_t>(count);
  return {items * r / n, items * (r + 1) / n};
}

// A fixed team of threads of which the caller is the first.
class Workers {
 public:
  explicit Workers(int count);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return count_; }

  // Calls task(rank) for each rank in [0, count) and returns when all are done. The first exception
  // by rank is rethrown. Not reentrant.
  void run(const std::function<void(int)>& task);

 private:
  void serve(int rank);
  void work(int rank) noexcept;

  int count_;
  const std::function<void(int)>* task_ = nullptr;
  std::vector<std::exception_ptr> failures_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::size_t generation_ = 0;
  int busy_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace supercell
