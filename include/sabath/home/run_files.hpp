#pragma once

#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

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
  /// Of later collections, each in a folder that is called by its number.
  std::filesystem::path collections() const { return directory_ / "collect"; }
  std::filesystem::path outputs(std::string_view stage) const {
    return directory_ / "outputs" / stage;
  }
  std::filesystem::path attempt(int number) const {
    return directory_ / "attempts" / std::to_string(number);
  }

  /// Of the attempt that its status names; where a power cut took that, of the last there is.
  std::filesystem::path last_attempt() const;

  spec::RunPlan read_plan() const;
  spec::RunStatus read_status() const;
  /// Where the record is: record.json, or that of the last attempt where a signal interrupted it
  /// in a scheduler's job that may come back (close_run.hpp). Nothing while there is none.
  std::optional<std::filesystem::path> record_file() const;
  /// Nothing while the run is not finished.
  std::optional<spec::RunRecord> read_record() const;
  void write_status(const spec::RunStatus& status) const;

 private:
  std::filesystem::path directory_;
};

/// What happened to a run, for whoever opens the catalog next.
enum class RunEvent { planned, finished };

/// Puts a run's id into the inbox: `runs`/.inbox/<id>.<event>. The two events have names of their
/// own, so that taking one note never swallows the other.
void announce(const std::filesystem::path& runs, std::string_view run_id, RunEvent event);

/// What a status says of this process: node, boot id, pid and its start.
void stamp_process(spec::RunStatus& status);
/// Is the process that a status names provably gone? Only ever true on the node that it ran on.
bool is_provably_gone(const spec::RunStatus& status);

}  // namespace sabath::home
