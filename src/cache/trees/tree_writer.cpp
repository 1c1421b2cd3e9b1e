#include "tree_writer.hpp"

#include <fmt/format.h>

#include <string_view>
#include <system_error>
#include <utility>

namespace sabath::cache {
namespace {

constexpr std::string_view tree_journal_first_line = "sabath tree journal 1";
constexpr std::uint64_t longest_tree_journal_bytes = std::uint64_t{4} << 30U;

bool take_finished_line(std::string_view line, FinishedFiles& files) {
  std::string path;
  FinishedFile file;
  if (next_field(line) != "file" || !read_text(line, path) || !read_number(line, file.size_bytes)) {
    return false;
  }
  const auto digest = base::parse_digest(base::DigestAlgorithm::sha256, next_field(line));
  if (!digest || !read_text(line, file.url) || !line.empty()) return false;
  file.digest = *digest;
  files[path] = file;
  return true;
}

}  // namespace

std::string finished_lines(const FinishedFiles& files) {
  std::string text;
  for (const auto& [path, file] : files)
    text += fmt::format(
        "file {} {} {} {}\n", as_field(path), file.size_bytes, file.digest.hex, as_field(file.url));
  return text;
}

std::string tree_journal_text(const FinishedFiles& files) {
  return std::string(tree_journal_first_line) + "\n" + finished_lines(files);
}

FinishedFiles read_tree_journal(const base::Beneath& beneath, const std::filesystem::path& path) {
  FinishedFiles files;
  const auto content = beneath.read_if_exists(path, longest_tree_journal_bytes);
  const auto take = [&files](std::string_view line) { return take_finished_line(line, files); };
  if (!content || !read_lines(content->text, tree_journal_first_line, take)) return {};
  return files;
}

void TreeWriter::put(const std::string& path,
                     std::unique_ptr<SmallFile> file,
                     const FinishedFile& finished) {
  if (!thread_.joinable()) {
    try {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
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

void TreeWriter::check() const {
  if (problem_) std::rethrow_exception(problem_);
}

void TreeWriter::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, stop, [this] { return !waiting_.empty(); });
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
