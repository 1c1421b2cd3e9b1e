#include <sabath/base/directory.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_end.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_logs.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_at_once = 4U << 20U;
/// Of the end of a job's log that a message tells.
constexpr std::size_t most_words = 1000;
constexpr std::size_t most_lines = 3;

/// A log and its size. Follows no link of another user: that would show a file of this one.
std::pair<base::UniqueFd, std::uint64_t> open_log(const fs::path& file) {
  try {
    const auto folder = base::Directory::open(file.parent_path(), base::Links::own);
    base::UniqueFd fd = folder.open_file(file.filename(), O_RDONLY | O_NONBLOCK);
    if (!fd && errno != ENOENT) base::throw_errno(file.string(), "cannot read", errno);
    struct stat status {};
    if (fd && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode))
      return {std::move(fd), static_cast<std::uint64_t>(status.st_size)};
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::not_found) throw;
  }
  return {};
}

std::string read_from(const fs::path& file, std::uint64_t from, std::uint64_t most = most_at_once) {
  const auto [fd, size] = open_log(file);
  if (size <= from) return {};
  std::string text(std::min(size - from, most), '\0');
  const ssize_t got = ::pread(fd.get(), text.data(), text.size(), static_cast<off_t>(from));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

std::vector<fs::path> logs_of_jobs(const fs::path& run_directory, const spec::RunPlan& plan) {
  std::vector<fs::path> logs{run_directory / "exec.log"};
  if (!plan.batch) return logs;
  const BatchFiles batch((run_directory / *plan.batch).lexically_normal());
  const spec::BatchPlan jobs = batch.read_plan();
  for (std::size_t step = 1; step <= jobs.steps.size(); ++step)
    logs.push_back(batch.log_of(step, jobs.task_of(plan.run_id)));
  return logs;
}

}  // namespace

RunLogs::RunLogs(fs::path run_directory, Choice choice)
    : directory_(std::move(run_directory)), choice_(std::move(choice)) {
  const spec::RunPlan plan = RunFiles(directory_).read_plan();
  for (const spec::PlannedStage& stage : plan.stages) {
    if (!stage.not_due) stages_.push_back(stage.name);
  }
  if (choice_.job) job_logs_ = logs_of_jobs(directory_, plan);
  if (choice_.stage.empty()) return;
  if (std::ranges::find(stages_, choice_.stage) == stages_.end()) {
    throw base::Error(
        base::ErrorKind::usage,
        "run " + plan.run_id + ": no stage '" + base::printable(choice_.stage) + "'",
        base::did_you_mean(choice_.stage, stages_, "'sabath show " + plan.run_id + "' lists them"));
  }
  stages_ = {choice_.stage};
}

std::vector<RunLogs::Source> RunLogs::sources() const {
  std::vector<Source> sources;
  if (choice_.job) {
    for (const fs::path& file : job_logs_)
      sources.push_back({file.filename().string(), file});
    return sources;
  }
  const fs::path attempt = RunFiles(directory_).last_attempt();
  for (const std::string& stage : stages_) {
    sources.push_back({stage, attempt / stage / (choice_.errors ? "stderr.log" : "stdout.log")});
  }
  return sources;
}

std::uint64_t RunLogs::size_bytes() const {
  std::uint64_t size = 0;
  for (const Source& source : sources())
    size += open_log(source.file).second;
  return size;
}

std::string RunLogs::more() {
  std::string text;
  const std::vector<Source> all = sources();
  for (const Source& source : all) {
    std::uint64_t& shown = shown_[source.file];
    const std::string news = read_from(source.file, shown);
    if (news.empty()) continue;
    shown += news.size();
    found_ = true;
    if (all.size() > 1 && last_ != source.file) text += "== " + source.title + " ==\n";
    last_ = source.file;
    text += news;
  }
  return text;
}

LogPart read_log_part(const fs::path& run_directory,
                      const RunLogs::Choice& choice,
                      std::optional<std::uint64_t> from) {
  constexpr std::uint64_t most_of_end = 64U << 10U;
  constexpr std::uint64_t most_of_part = 256U << 10U;
  LogPart part;
  const RunLogs::Source* chosen = nullptr;
  const std::vector<RunLogs::Source> all = RunLogs(run_directory, choice).sources();
  for (const RunLogs::Source& source : all) {
    const std::uint64_t size = open_log(source.file).second;
    if (size == 0 && chosen != nullptr) continue;
    chosen = &source;
    part.size_bytes = size;
  }
  if (chosen == nullptr) return part;
  part.title = chosen->title;
  const bool is_end = !from || *from > part.size_bytes;
  if (is_end) from = part.size_bytes > most_of_end ? part.size_bytes - most_of_end : 0;
  part.from = *from;
  part.text = read_from(chosen->file, part.from, most_of_part);
  part.next = part.from + part.text.size();
  if (!is_end || part.from == 0) return part;
  const std::size_t line = part.text.find('\n') + 1;
  part.text.erase(0, line);
  part.from += line;
  return part;
}

std::string last_words(const fs::path& log) {
  std::string text = base::read_file_end(log, most_words + 1);
  // Its first line may have lost its beginning.
  if (text.size() > most_words) text.erase(0, text.find('\n', 1));
  return base::last_lines(base::redact(text), most_lines, " | ");
}

}  // namespace sabath::home
