#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_status.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::home {

/// The files of one run (layout: docs/formats/record.md).
class RunFiles {
 public:
  explicit RunFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  const std::filesystem::path& directory() const noexcept { return directory_; }
  std::filesystem::path plan() const { return directory_ / "plan.json"; }
  std::filesystem::path status() const { return directory_ / "status.json"; }
  std::filesystem::path record() const { return directory_ / "record.json"; }
  std::filesystem::path series() const { return directory_ / "series.h5"; }
  /// Folder of the record and the series of the run that it is compared with while it runs.
  std::filesystem::path reference() const { return directory_ / "reference"; }
  /// Folder of later collections, each in a numbered subfolder.
  std::filesystem::path collections() const { return directory_ / "collect"; }
  std::filesystem::path outputs(std::string_view stage) const {
    return directory_ / "outputs" / stage;
  }
  std::filesystem::path attempt(int number) const {
    return directory_ / "attempts" / std::to_string(number);
  }

  /// Folder of the attempt in its status, or of the last one if a power cut destroyed the status.
  std::filesystem::path last_attempt() const;

  spec::RunPlan read_plan() const;
  spec::RunStatus read_status() const;
  /// File of the record: record.json, or that of the last attempt if a signal interrupted it in a
  /// scheduler's job that may restart (close_interrupted). Nothing while there is none.
  std::optional<std::filesystem::path> record_file() const;
  /// Nothing while the run is not finished.
  std::optional<spec::RunRecord> read_record() const;
  void write_status(const spec::RunStatus& status) const;
  /// Writes record.json of a run that is over. False where one is there: it is never replaced.
  bool write_record(const spec::RunRecord& record) const;

 private:
  std::filesystem::path directory_;
};

/// Throws Error{integrity} where an output has other bytes than the record says. Outputs that were
/// removed are passed over. So are those that a later stage of the run changed.
void require_unchanged_outputs(const RunFiles& files, const spec::RunRecord& record);

/// Text of record.json.
std::string record_text(const spec::RunRecord& record);
void write_host_facts(const std::filesystem::path& file, const spec::HostFacts& facts);

/// Event of a run that the next reader of the catalog indexes.
enum class RunEvent { planned, finished };

/// Puts the name of a run's directory into the inbox beside it: .inbox/<id>.<event>. Each event has
/// its own name, so that consuming one note never loses the other.
void announce(const std::filesystem::path& run, RunEvent event);

/// Fills in this process: node, boot id, pid and its start.
void stamp_process(spec::RunStatus& status);
/// Whether the process in a status is provably gone. True only on the node that it ran on.
bool is_provably_gone(const spec::RunStatus& status);

/// Closes a run that a signal interrupted in a scheduler's job: makes the record of its attempt the
/// record of the run, which then cannot be continued. To be called when the job will not restart.
/// Returns false if the attempt has no record or the run already has one. Throws Error{storage}.
bool close_interrupted(const RunFiles& files);

/// Writes the state, and the reason, of a run that has no executor and no record, and notifies the
/// catalog. Throws Error{storage}.
void close_run(const RunFiles& files,
               spec::RunState state,
               const std::string& why,
               const base::Clock& clock);

}  // namespace sabath::home
