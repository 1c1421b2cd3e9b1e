#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/home/close_run.hpp>

namespace sabath::home {

bool close_interrupted(const RunFiles& files) {
  std::error_code code;
  if (std::filesystem::exists(files.record(), code)) return false;
  const auto file = files.record_file();
  if (!file) return false;
  if (!base::write_file_once(files.record(), base::read_file(*file))) return false;
  announce(
      files.directory().parent_path(), files.directory().filename().string(), RunEvent::finished);
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
  announce(
      files.directory().parent_path(), files.directory().filename().string(), RunEvent::finished);
}

}  // namespace sabath::home
