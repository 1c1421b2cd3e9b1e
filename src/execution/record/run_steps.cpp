#include "run_steps.hpp"

#include "job_facts.hpp"
#include "usage_sums.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/session_variables.hpp>
#include <sabath/spec/stage_record.hpp>

#include <algorithm>
#include <utility>

#include <sys/stat.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using spec::RunRecord;

template <class T>
void put_first(const std::vector<T>& earlier, std::vector<T>& items) {
  items.insert(items.begin(), earlier.begin(), earlier.end());
}

template <class T>
void put_first(const std::optional<std::vector<T>>& earlier, std::optional<std::vector<T>>& items) {
  if (!earlier) return;
  if (!items) items.emplace();
  put_first(*earlier, *items);
}

/// Adds each node once, as it was seen first.
void put_hosts(const RunRecord& earlier, RunRecord& record) {
  std::erase_if(record.hosts, [&](const spec::HostFacts& host) {
    return std::ranges::any_of(earlier.hosts, [&](const auto& other) {
      return other.node == host.node && other.identity() == host.identity();
    });
  });
  put_first(earlier.hosts, record.hosts);
}

void put_software(const spec::Software& earlier, spec::Software& software) {
  for (const spec::LoadedLibrary& library : earlier.libraries) {
    const auto same = std::ranges::find_if(software.libraries, [&](const auto& other) {
      return other.path == library.path && other.digest == library.digest;
    });
    if (same == software.libraries.end()) {
      software.libraries.push_back(library);
    } else {
      put_first(library.stages, same->stages);
    }
  }
  std::ranges::sort(software.libraries, {}, &spec::LoadedLibrary::path);
  software.versions.insert(earlier.versions.begin(), earlier.versions.end());
  put_first(earlier.notes, software.notes);
  if (!earlier.packages) return;
  if (!software.packages) software.packages.emplace();
  for (const auto& [name, versions] : *earlier.packages) {
    std::string& known = (*software.packages)[name];
    const std::string later = std::exchange(known, versions);
    add_versions(known, later);
  }
}

/// Where both have a value, the earlier step's stays.
void put_opened(const spec::Facet& earlier, spec::Facet& opened) {
  const std::string method(spec::opened_method);
  const auto later = opened.items.find(method);
  const bool is_sampled = later != opened.items.end() && later->second != spec::every_open;
  opened.name = earlier.name;
  std::size_t notes = 0;
  std::map<std::string, std::string> items = earlier.items;
  for (const auto& [item, value] : earlier.items)
    notes += item.starts_with(spec::opened_note) ? 1 : 0;
  for (const auto& [item, value] : opened.items) {
    const bool is_note = item.starts_with(spec::opened_note);
    items.emplace(is_note ? std::string(spec::opened_note) + std::to_string(++notes) : item, value);
  }
  if (is_sampled) items[method] = spec::some_opens;
  opened.items = std::move(items);
}

}  // namespace

fs::path step_file(const home::RunFiles& files, int attempt, std::size_t step) {
  return files.attempt(attempt) / ("step-" + std::to_string(step) + ".json");
}

std::vector<spec::PlannedStage> stages_of_step(const spec::RunPlan& plan,
                                               const spec::BatchPlan& batch,
                                               std::size_t step) {
  if (step < 1 || step > batch.steps.size()) {
    throw Error(ErrorKind::usage,
                "batch " + batch.batch_id + " has no step " + std::to_string(step));
  }
  const std::vector<std::string>& names = batch.steps[step - 1].stages;
  std::vector<spec::PlannedStage> stages;
  for (const spec::PlannedStage& stage : plan.stages) {
    if (std::ranges::find(names, stage.name) != names.end()) stages.push_back(stage);
  }
  if (stages.size() != names.size()) {
    throw Error(ErrorKind::usage,
                "run " + plan.run_id + " has not all stages of step " + std::to_string(step) +
                    " of its batch");
  }
  return stages;
}

void take_over_steps(const home::RunFiles& files, int from, int to, std::size_t steps) {
  const fs::path before = files.attempt(from);
  if (steps == 0) return;
  for (std::size_t step = 1; step <= steps; ++step) {
    std::error_code code;
    fs::copy_file(step_file(files, from, step),
                  step_file(files, to, step),
                  fs::copy_options::skip_existing,
                  code);
    if (code) base::throw_errno(step_file(files, from, step).string(), "cannot copy", code.value());
    // Outputs are compared with the time at which the step ended, not with that of the copy.
    fs::last_write_time(step_file(files, to, step),
                        fs::last_write_time(step_file(files, from, step)));
  }
  const RunRecord earlier = spec::parse_run_record(base::read_file(step_file(files, to, steps)),
                                                   step_file(files, to, steps).string());
  for (const spec::StageRecord& stage : earlier.stages) {
    std::error_code code;
    if (!fs::exists(before / stage.name, code)) continue;
    fs::create_directory_symlink(
        fs::path("..") / std::to_string(from) / stage.name, files.attempt(to) / stage.name, code);
    if (code && code != std::errc::file_exists)
      base::throw_errno((files.attempt(to) / stage.name).string(), "cannot link", code.value());
  }
}

std::chrono::nanoseconds grace_in_job(const std::optional<BatchPart>& batch) {
  using std::chrono::seconds;
  constexpr seconds for_the_record{10};
  const std::chrono::nanoseconds usual = base::Command{}.grace;
  if (!batch) return usual;
  const auto& limit = batch->plan.steps.at(batch->step - 1).resources.time;
  const seconds warning = batch->plan.site.warning;
  // A short job is warned later (launch/job_script.cpp).
  const seconds early = limit ? std::min<seconds>(warning, *limit / 2) : warning;
  return std::max<std::chrono::nanoseconds>(usual, early - for_the_record);
}

void mark_out_of_time(const BatchPart& batch,
                      const std::string& run_id,
                      base::WallTime now,
                      RunRecord& record) {
  if (record.state != spec::RunState::interrupted) return;
  const auto& limit = batch.plan.steps.at(batch.step - 1).resources.time;
  const bool is_warned = is_nearly_over(limit, batch.plan.site.warning, now);
  if (!is_warned || home::BatchFiles(batch.folder).is_cancelled(run_id)) return;
  record.state = spec::RunState::failed;
  record.message = "the job's time was nearly over; " + record.message;
}

void put_before(const RunRecord& earlier, RunRecord& record, FoundSoftware& software) {
  record.usage = one_after_other({earlier.usage, earlier.wall_s}, {record.usage, record.wall_s});
  record.started = earlier.started;
  record.wall_s += earlier.wall_s;
  put_first(earlier.stages, record.stages);
  put_first(earlier.outputs, record.outputs);
  put_first(earlier.energy_readings, record.energy_readings);
  put_hosts(earlier, record);
  if (earlier.software) put_software(*earlier.software, software.software);
  if (const spec::Facet* const opened = earlier.facet(spec::opened_facet))
    put_opened(*opened, software.opened);
  if (earlier.determinism)
    software.threads.insert(earlier.determinism->threads.begin(),
                            earlier.determinism->threads.end());
}

void note_unchanged(RunRecord& earlier,
                    const home::RunFiles& files,
                    const fs::path& step,
                    OutputStamps& stamps) {
  struct stat after {};
  if (::stat(step.c_str(), &after) != 0) after = {};  // then nothing is older
  for (spec::OutputRecord& output : earlier.outputs) {
    const fs::path file = files.outputs(output.stage) / output.path;
    struct stat status {};
    const bool is_there = ::lstat(file.c_str(), &status) == 0;
    const auto earlier_than = [](const timespec& a, const timespec& b) {
      return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
    };
    // One clock: that of the file system that has both.
    const bool is_older = earlier_than(status.st_mtim, after.st_mtim);
    if (is_there && is_older && static_cast<std::uint64_t>(status.st_size) == output.size_bytes) {
      stamps.note(file, status);
    } else if (!output.kept) {
      output.kept = spec::changed_since_stage;
    }
  }
}

MadeOutputs made_by(const RunRecord& earlier) {
  MadeOutputs made;
  for (const spec::StageRecord& stage : earlier.stages) {
    if (stage.state == "ok" || stage.state == "reused") made[stage.name];
  }
  for (const spec::OutputRecord& output : earlier.outputs)
    made[output.stage].push_back(output);
  return made;
}

void complete_stages(const spec::RunPlan& plan, RunRecord& record) {
  std::vector<spec::StageRecord> stages;
  for (const spec::PlannedStage& stage : plan.stages) {
    const auto found = std::ranges::find_if(
        record.stages, [&](const auto& one) { return one.name == stage.name; });
    if (found != record.stages.end()) {
      stages.push_back(*found);
      continue;
    }
    spec::StageRecord skipped;
    skipped.name = stage.name;
    skipped.argv = stage.argv;
    skipped.state = stage.not_due ? "not_due" : "skipped";
    skipped.message = stage.not_due.value_or("the run had ended before its job began");
    stages.push_back(std::move(skipped));
  }
  record.stages = std::move(stages);
}

}  // namespace sabath::execution
