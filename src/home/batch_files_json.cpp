#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/home/batch_files.hpp>

#include <nlohmann/json.hpp>

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;

constexpr const char* plan_name = "batch.json";
constexpr const char* jobs_name = "submitted.json";
constexpr const char* submitter_name = "submitter";
constexpr const char* cancelled_name = "cancelled";

void make_mark(const fs::path& folder, const std::string& name) noexcept {
  const base::UniqueFd file(::open((folder / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

std::string log_name(std::size_t step, const std::string& task) {
  return "job-" + std::to_string(step) + ".log-" + task;
}

bool has_runs(const fs::path& folder, const spec::BatchPlan& plan) {
  std::error_code code;
  return !plan.runs.empty() && fs::is_directory(folder / plan.runs.front(), code);
}

/// Returns the runs of the home that a batch lies in, where the plan names those of another home.
/// The batch of a run or a study lies in HOME/{runs,studies}/ID/jobs/N.
fs::path runs_here(const fs::path& batch, const spec::BatchPlan& plan) {
  const fs::path jobs = fs::absolute(batch).lexically_normal().parent_path();
  fs::path runs = jobs.parent_path().parent_path().parent_path() / "runs";
  std::error_code code;
  const bool is_other = jobs.filename() == "jobs" && has_runs(runs, plan) &&
                        !fs::equivalent(runs, plan.runs_directory, code);
  return is_other ? runs : fs::path();
}

}  // namespace

fs::path BatchFiles::script(std::size_t step) const {
  return directory_ / ("job-" + std::to_string(step) + ".sh");
}

fs::path BatchFiles::log(std::size_t step) const {
  return directory_ / log_name(step, "{task}");
}

fs::path BatchFiles::log_of(std::size_t step, std::size_t task) const {
  return directory_ / log_name(step, std::to_string(task));
}

bool BatchFiles::is_written() const {
  std::error_code code;
  return fs::exists(directory_ / plan_name, code);
}

bool WrittenBatches::operator()(const fs::path& directory) {
  const auto known = known_.find(directory);
  if (known != known_.end()) return known->second;
  return known_[directory] = BatchFiles(directory).is_written();
}

spec::BatchPlan BatchFiles::read_plan() const {
  const fs::path file = directory_ / plan_name;
  spec::BatchPlan plan = spec::parse_batch_plan(base::read_file(file), file.string());
  if (const fs::path here = runs_here(directory_, plan); !here.empty())
    plan.runs_directory = here.string();
  return plan;
}

std::optional<fs::path> BatchFiles::original_runs() const {
  const fs::path file = directory_ / plan_name;
  const spec::BatchPlan plan = spec::parse_batch_plan(base::read_file(file), file.string());
  if (runs_here(directory_, plan).empty() || !has_runs(plan.runs_directory, plan))
    return std::nullopt;
  return plan.runs_directory;
}

void BatchFiles::write_plan(const spec::BatchPlan& plan) const {
  base::write_file_atomically(directory_ / plan_name, base::pretty_json(spec::to_json(plan)));
}

std::optional<spec::BatchJobs> BatchFiles::read_jobs() const {
  const fs::path file = directory_ / jobs_name;
  const auto text = base::read_file_if_exists(file);
  if (!text) return std::nullopt;
  return spec::parse_batch_jobs(*text, file.string());
}

void BatchFiles::write_jobs(const spec::BatchJobs& jobs) const {
  base::write_file_atomically(directory_ / jobs_name, base::pretty_json(spec::to_json(jobs)));
}

void BatchFiles::note_submitter() const {
  base::write_file_atomically(directory_ / submitter_name,
                              base::ProcessIdentity::current().text() + "\n",
                              base::Durability::ordered_only);
}

std::optional<base::ProcessIdentity> BatchFiles::submitter() const {
  const auto text = base::read_file_if_exists(directory_ / submitter_name);
  if (!text) return std::nullopt;
  return base::ProcessIdentity::parse(text->substr(0, text->find('\n')));
}

void BatchFiles::note_started(std::string_view run_id, int attempt) const noexcept {
  make_mark(started(), std::string(run_id) + "." + std::to_string(attempt));
}

void BatchFiles::note_ended(std::string_view run_id) const noexcept {
  make_mark(ended(), std::string(run_id));
}

void BatchFiles::note_cancelled(std::string_view run_id) const {
  base::make_directories(directory_ / cancelled_name);
  make_mark(directory_ / cancelled_name, std::string(run_id));
}

void BatchFiles::forget_cancelled(std::string_view run_id) const noexcept {
  std::error_code code;
  fs::remove(directory_ / cancelled_name / run_id, code);
}

bool BatchFiles::is_cancelled(std::string_view run_id) const noexcept {
  std::error_code code;
  return fs::exists(directory_ / cancelled_name / run_id, code);
}

BatchFiles make_batch(const fs::path& parent) {
  base::make_directories(parent / "jobs");
  for (int number = 1;; ++number) {
    const fs::path directory = parent / "jobs" / std::to_string(number);
    if (::mkdir(directory.c_str(), 0755) == 0) {
      BatchFiles files(directory);
      base::make_directories(files.started());
      base::make_directories(files.ended());
      return files;
    }
    if (errno != EEXIST) base::throw_errno(directory.string(), "cannot make the folder", errno);
  }
}

}  // namespace sabath::home
