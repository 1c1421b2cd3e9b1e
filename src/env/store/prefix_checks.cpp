#include "prefix_checks.hpp"

#include "prefix_files.hpp"

#include <algorithm>
#include <utility>

#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

std::string name_of(const Expectations& expectations) {
  return expectations.digest.hex.substr(0, 16);
}

std::vector<CheckRecord> records_in(const fs::path& folder) {
  std::vector<CheckRecord> records;
  for (const fs::directory_entry& entry : entries_in(folder)) {
    if (entry.path().extension() != ".json") continue;
    if (auto record = read_check_record(entry.path())) records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace

Expectations::Expectations(std::vector<std::string> lines_given) : lines(std::move(lines_given)) {
  std::ranges::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  base::Hasher hasher;
  hasher.update("sabath-check/1\n");
  for (const std::string& line : lines)
    hasher.update(line + "\n");
  digest = hasher.finish();
}

PrefixChecks::PrefixChecks(AttemptFolder attempt, const fs::path& state_directory)
    : attempt_(std::move(attempt)) {
  if (state_directory.empty()) return;
  const fs::path key = attempt_.path.parent_path().filename();
  own_ = state_directory / "checks" / (key.string() + "-" + attempt_.path.filename().string());
}

fs::path PrefixChecks::beside() const {
  return attempt_.path / "checks";
}

std::optional<fs::path> PrefixChecks::writable() const {
  if (::access(attempt_.path.c_str(), W_OK) == 0) return beside();
  if (own_.empty()) return std::nullopt;
  return own_;
}

std::optional<CheckRecord> PrefixChecks::find(const Expectations& expectations) const {
  const std::string name = name_of(expectations) + ".json";
  auto record = read_check_record(beside() / name);
  if (own_.empty() || (record && record->has_passed())) return record;
  auto own = read_check_record(own_ / name);
  return own ? own : record;
}

std::vector<CheckRecord> PrefixChecks::all() const {
  std::vector<CheckRecord> records = records_in(beside());
  if (own_.empty()) return records;
  for (CheckRecord& record : records_in(own_))
    records.push_back(std::move(record));
  return records;
}

void PrefixChecks::keep(const Expectations& expectations, const CheckRecord& record) const {
  const auto folder = writable();
  if (!folder) return;
  make_own_folder(*folder);
  write_check_record(*folder / (name_of(expectations) + ".json"), record);
}

std::optional<fs::path> PrefixChecks::log_of(const Expectations& expectations) const {
  const auto folder = writable();
  if (!folder) return std::nullopt;
  make_own_folder(*folder);
  return *folder / (name_of(expectations) + ".log");
}

void add_checked(const AttemptFolder& attempt, std::map<std::string, std::string>& present) {
  for (CheckRecord& record : PrefixChecks(attempt, {}).all())
    present.merge(record.present);
}

}  // namespace sabath::env
