#include <sabath/app/close_run.hpp>
#include <sabath/base/file.hpp>

namespace sabath::app {

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

}  // namespace sabath::app
