#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/base/version.hpp>
#include <sabath/home/dated_folder.hpp>
#include <sabath/home/heartbeat.hpp>
#include <sabath/home/study_files.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr int study_letters = 6;
constexpr std::string_view driver_prefix = "driver.";

/// The number of the newest driver; 0: there was none.
int newest_driver(const fs::path& directory) {
  int newest = 0;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(directory, code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(driver_prefix)) continue;
    const auto number = base::leading_number<int>(name.substr(driver_prefix.size()));
    newest = std::max(newest, number.value_or(0));
  }
  return newest;
}

fs::path driver_file(const fs::path& directory, int number) {
  return directory / (std::string(driver_prefix) + std::to_string(number));
}

Error in_other_hands(const std::string& name,
                     const base::ProcessIdentity& driver,
                     std::chrono::nanoseconds silence,
                     const std::string& id) {
  const std::string what = name + "may be running on another machine, as process " +
                           std::to_string(driver.pid) + "; its last heartbeat was " +
                           base::format_duration(silence) + " ago";
  if (silence < heartbeat_timeout)
    return {ErrorKind::usage, what, "continue there, or after that process has ended"};
  return {ErrorKind::usage,
          what,
          "if that machine, and what it ran, is gone: sabath run --resume " + id + " --take-over"};
}

void check_points(const std::vector<spec::StudyPoint>& points, const fs::path& path) {
  const auto has_names_of_first = [&](const spec::StudyPoint& point) {
    const auto& first = points.front().set;
    return std::equal(first.begin(),
                      first.end(),
                      point.set.begin(),
                      point.set.end(),
                      [](const auto& one, const auto& other) { return one.first == other.first; });
  };
  const auto odd = std::ranges::find_if_not(points, has_names_of_first);
  if (odd == points.end()) return;
  throw Error(ErrorKind::usage,
              path.string() + ":/points/" + std::to_string(odd - points.begin()) +
                  "/set: its parameters are not those of point 0",
              "all points of a study set the same parameters; restore the file");
}

/// When it was made stands at the end of an id, before its letters.
std::string time_of(const std::string& id) {
  constexpr std::size_t length = 15 + 1 + study_letters;  // YYYYMMDD-hhmmss-abcdef
  return id.size() < length ? id : id.substr(id.size() - length);
}

}  // namespace

spec::StudyPlan StudyFiles::read_plan() const {
  const fs::path path = directory_ / "study.json";
  spec::StudyPlan plan = spec::parse_study_plan(base::read_file(path), path.string());
  check_points(plan.points, path);
  return plan;
}

std::vector<StudyFiles::Run> StudyFiles::runs() const {
  std::vector<Run> runs;
  const std::string text = base::read_file_if_exists(directory_ / "runs").value_or("");
  for (std::size_t from = 0, end = text.find('\n'); end != std::string::npos;
       from = end + 1, end = text.find('\n', from)) {
    const std::string_view line = std::string_view(text).substr(from, end - from);
    Run run;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), run.point);
    const std::size_t used = static_cast<std::size_t>(rest - line.data());
    if (error != std::errc{} || used + 1 >= line.size() || line[used] != ' ') continue;
    run.run_id = line.substr(used + 1);
    runs.push_back(std::move(run));
  }
  return runs;
}

void StudyFiles::add_runs(const std::vector<Run>& runs) const {
  std::string lines;
  for (const Run& run : runs)
    lines += std::to_string(run.point) + " " + run.run_id + "\n";
  base::append_lines(directory_ / "runs", std::move(lines));
}

void StudyFiles::become_driver(bool take_over) const {
  const int newest = newest_driver(directory_);
  if (newest > 0) {
    const fs::path file = driver_file(directory_, newest);
    const auto driver = base::ProcessIdentity::parse(base::read_file(file));
    const auto self = base::ProcessIdentity::current();
    const auto liveness = driver ? base::liveness_of(*driver, self) : base::Liveness::gone;
    const std::string name = "study '" + directory_.filename().string() + "': ";
    if (liveness == base::Liveness::running && driver != self) {
      throw Error(ErrorKind::usage,
                  name + "is already running, as process " + std::to_string(driver->pid));
    }
    if (liveness == base::Liveness::unknown) {
      const auto silence = heartbeat_age(file);
      if (!take_over || silence < heartbeat_timeout)
        throw in_other_hands(name, *driver, silence, directory_.filename().string());
    }
  }
  // Exclusive create: only one of two competing drivers wins.
  if (!base::write_file_once(driver_file(directory_, newest + 1),
                             base::ProcessIdentity::current().text())) {
    throw Error(
        ErrorKind::usage,
        "study '" + directory_.filename().string() + "': another process has just taken it over");
  }
}

bool StudyFiles::has_other_driver() const {
  const fs::path file = driver_file(directory_, newest_driver(directory_));
  const auto driver = base::ProcessIdentity::parse(base::read_file_if_exists(file).value_or(""));
  const auto self = base::ProcessIdentity::current();
  if (!driver || driver == self) return false;
  const auto liveness = base::liveness_of(*driver, self);
  if (liveness != base::Liveness::unknown) return liveness == base::Liveness::running;
  try {
    return heartbeat_age(file) < heartbeat_timeout;
  } catch (const Error&) {
    return true;  // nobody can tell in a folder that cannot be written to
  }
}

void StudyFiles::send_heartbeat() const {
  const fs::path file = driver_file(directory_, newest_driver(directory_));
  const auto driver = base::ProcessIdentity::parse(base::read_file_if_exists(file).value_or(""));
  if (driver != base::ProcessIdentity::current()) {
    throw Error(ErrorKind::usage,
                "study '" + directory_.filename().string() + "': another process has taken it over",
                "runs that this process started continue to their end");
  }
  ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
}

StudyFiles make_study(const fs::path& studies,
                      const std::string& name,
                      spec::StudyPlan& plan,
                      base::Clock& clock) {
  StudyFiles files(make_dated_folder(studies, name, study_letters, clock));
  plan.study_id = files.directory().filename().string();
  plan.created = base::format_rfc3339(clock.now());
  plan.sabath_version = base::version();
  base::write_file_atomically(files.directory() / "study.json",
                              base::pretty_json(spec::to_json(plan)));
  return files;
}

std::vector<std::string> study_ids(const fs::path& studies) {
  std::vector<std::string> ids;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(studies, code)) {
    std::error_code none;
    if (fs::exists(entry.path() / "study.json", none)) {
      ids.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(ids, [](const std::string& a, const std::string& b) {
    return std::pair(time_of(a), a) < std::pair(time_of(b), b);
  });
  return ids;
}

StudyFiles find_study(const fs::path& studies, std::string_view id) {
  const std::vector<std::string> ids = study_ids(studies);
  std::vector<std::string> found;
  for (const std::string& each : ids) {
    if (each == id) return StudyFiles(studies / each);
    if (!id.empty() && each.starts_with(id)) found.push_back(each);
  }
  const std::string place = "study '" + base::printable(id) + "': ";
  if (found.size() == 1) return StudyFiles(studies / found.front());
  if (!found.empty()) {
    throw Error(ErrorKind::usage,
                place + "the id is ambiguous",
                "such as " + found[0] + " and " + found[1]);
  }
  throw Error(ErrorKind::not_found,
              place + "not found",
              base::did_you_mean(id, ids, "'sabath list studies' shows what there is"));
}

}  // namespace sabath::home
