#include "tree_writer.hpp"

#include <system_error>
#include <utility>

namespace sabath::cache {

void TreeWriter::put(const std::string& path,
                     std::unique_ptr<SmallFile> file,
                     const FinishedFile& finished) {
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      // The limit of processes is reached.
      file->put();
      journal_.append(finished_lines({{path, finished}}));
      return;
    }
  }
  bool wakes = false;
  {
    std::unique_lock lock(mutex_);
    resting_.wait(lock, [this] { return waiting_.size() < most_waiting || problem_; });
    check();
    waiting_.push_back({std::move(file), path, finished});
    wakes = !is_writing_;
  }
  if (wakes) work_.notify_one();
}

void TreeWriter::settle() {
  std::unique_lock lock(mutex_);
  resting_.wait(lock, [this] { return !is_writing_ && waiting_.empty(); });
  check();
}

void TreeWriter::end() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void TreeWriter::check() const {
  if (problem_) std::rethrow_exception(problem_);
}

void TreeWriter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Jobs jobs = std::exchange(waiting_, {});
    is_writing_ = true;
    lock.unlock();
    resting_.notify_one();
    std::exception_ptr problem;
    try {
      write(std::move(jobs));
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    is_writing_ = false;
    if (problem && !problem_) problem_ = problem;
    resting_.notify_one();
  }
}

void TreeWriter::write(Jobs jobs) {
  FinishedFiles finished;
  std::exception_ptr problem;
  for (Job& job : jobs) {
    try {
      job.file->put();
    } catch (...) {
      problem = std::current_exception();
      break;
    }
    finished.emplace(std::move(job.path), std::move(job.finished));
  }
  journal_.append(finished_lines(finished));
  if (problem) std::rethrow_exception(problem);
}

}  // namespace sabath::cache
