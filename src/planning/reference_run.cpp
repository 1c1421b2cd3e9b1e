#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/reference_run.hpp>
#include <sabath/spec/run_record.hpp>

namespace sabath::planning {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& run, const std::string& problem, const std::string& hint) {
  throw base::Error(
      base::ErrorKind::usage,
      "--stop-when-diverged: run '" + base::printable(run.filename().string()) + "' " + problem,
      hint);
}

}  // namespace

void check_reference(const fs::path& run, const spec::Recipe& recipe) {
  const home::RunFiles files(run);
  const auto record = files.read_record();
  if (!record) refuse(run, "has not ended", "name a run that is 'ok'");
  if (record->state != spec::RunState::ok)
    refuse(
        run, "is '" + std::string(spec::to_string(record->state)) + "'", "name a run that is 'ok'");
  if (spec::document_definition(*record) != recipe.definition_digest())
    refuse(run,
           "has another definition of its recipe",
           "'sabath compare' does not judge such runs either");
  std::error_code code;
  if (!fs::is_regular_file(files.series(), code))
    refuse(run, "has no metrics", "name a run that reported some");
}

void copy_reference(const fs::path& run, const fs::path& folder) {
  const home::RunFiles files(run);
  base::make_directories(folder);
  fs::copy_file(files.record(), folder / "record.json");
  // Neither is ever changed. A link may be impossible, as between file systems.
  std::error_code code;
  fs::create_hard_link(files.series(), folder / "series.h5", code);
  if (code) fs::copy_file(files.series(), folder / "series.h5");
}

}  // namespace sabath::planning
