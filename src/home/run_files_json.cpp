#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/process/process_table.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sabath::home {

spec::RunPlan RunFiles::read_plan() const {
  return spec::parse_run_plan(base::read_file(plan()), plan().string());
}

spec::RunStatus RunFiles::read_status() const {
  return spec::parse_run_status(base::read_file(status()), status().string());
}

std::filesystem::path RunFiles::last_attempt() const {
  try {
    return attempt(std::max(1, read_status().attempt));
  } catch (const base::Error&) {
    const std::vector<int> attempts = base::numbered_entries(directory_ / "attempts");
    if (attempts.empty()) throw;
    return attempt(attempts.back());
  }
}

std::optional<spec::RunRecord> RunFiles::read_record() const {
  const auto file = record_file();
  if (!file) return std::nullopt;
  spec::RunRecord record = spec::parse_run_record(base::read_file(*file), file->string());
  const auto check = [&](const std::string& path) {
    if (base::is_safe_relative_path(path)) return;
    throw base::Error(
        base::ErrorKind::integrity,
        file->string() + ": '" + base::printable(path) + "' is not in the run's folder",
        "the record was changed after the run");
  };
  for (const spec::StageRecord& stage : record.stages)
    check(stage.name);
  for (const spec::OutputRecord& output : record.outputs) {
    check(output.stage);
    check(output.path);
  }
  return record;
}

void require_unchanged_outputs(const RunFiles& files, const spec::RunRecord& record) {
  for (const spec::OutputRecord& output : record.outputs) {
    if (output.is_outdated()) continue;
    const std::filesystem::path path = files.outputs(output.stage) / output.path;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path)) ||
        base::digest_file(path) == output.digest)
      continue;
    throw base::Error(base::ErrorKind::integrity,
                      path.string() + ": was changed after the run",
                      "its digest differs from the one in the run's record");
  }
}

std::optional<std::filesystem::path> RunFiles::record_file() const {
  std::error_code code;
  if (std::filesystem::exists(record(), code)) return record();
  const auto text = base::read_file_if_exists(status());
  if (!text) return std::nullopt;
  const spec::RunStatus last_status = spec::parse_run_status(*text, status().string());
  if (last_status.state != spec::RunState::interrupted || last_status.attempt < 1)
    return std::nullopt;
  const std::filesystem::path last = RunFiles(attempt(last_status.attempt)).record();
  if (std::filesystem::exists(last, code)) return last;
  return std::nullopt;
}

void RunFiles::write_status(const spec::RunStatus& status) const {
  // It need not survive a power cut: a finished run has its record, and one that was cut off is
  // found out by its process being gone.
  base::write_file_atomically(this->status(),
                              base::pretty_json(redacted(spec::to_json(status))),
                              base::Durability::ordered_only);
}

bool RunFiles::write_record(const spec::RunRecord& record) const {
  return base::write_file_once(this->record(), record_text(record));
}

void announce(const std::filesystem::path& run, RunEvent event) {
  const std::filesystem::path inbox = run.parent_path() / ".inbox";
  base::make_directories(inbox);
  const std::string_view suffix = event == RunEvent::planned ? ".planned" : ".finished";
  base::write_file_atomically(
      inbox / (run.filename().string() + std::string(suffix)), "", base::Durability::ordered_only);
}

void stamp_process(spec::RunStatus& status) {
  status.node = probe::node_name();
  const auto self = base::ProcessIdentity::current();
  status.pid = self.pid;
  status.process = self.text();
}

bool is_provably_gone(const spec::RunStatus& status) {
  const auto process = base::ProcessIdentity::parse(status.process);
  return process && base::liveness_of(*process) == base::Liveness::gone;
}

std::string record_text(const spec::RunRecord& record) {
  return base::pretty_json(redacted(spec::to_json(record)));
}

void write_host_facts(const std::filesystem::path& file, const spec::HostFacts& facts) {
  base::write_file_atomically(
      file, base::pretty_json(redacted(spec::to_json(facts))), base::Durability::ordered_only);
}

bool close_interrupted(const RunFiles& files) {
  std::error_code code;
  if (std::filesystem::exists(files.record(), code)) return false;
  const auto file = files.record_file();
  if (!file) return false;
  if (!base::write_file_once(files.record(), base::read_file(*file))) return false;
  announce(files.directory(), RunEvent::finished);
  return true;
}

void close_run(const RunFiles& files,
               spec::RunState state,
               const std::string& why,
               const base::Clock& clock) {
  spec::RunStatus status;
  try {
    status = files.read_status();
  } catch (const base::Error&) {
    status.attempt = 0;  // a power cut took it
  }
  status.state = state;
  status.message = why;
  status.updated = base::format_rfc3339(clock.now());
  files.write_status(status);
  announce(files.directory(), RunEvent::finished);
}

}  // namespace sabath::home
