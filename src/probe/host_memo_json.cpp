#include "fact_file.hpp"
#include "host_memo.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

#include <chrono>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::probe {
namespace {

constexpr int memo_schema = 1;

/// Other users could plant facts in a shared folder.
bool is_ours_alone(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

std::optional<spec::HostFacts> read_host_memo(const std::filesystem::path& path,
                                              const std::string& witness) {
  if (!is_ours_alone(path)) return std::nullopt;
  const auto text = read_fact(path);
  if (!text) return std::nullopt;
  try {
    auto document = base::JsonDocument::parse(*text, path.string());
    auto root = document.root();
    if (root.required("schema").integer() != memo_schema) return std::nullopt;
    if (root.required("witness").string() != witness) return std::nullopt;
    auto facts = spec::read_host_facts(root.required("facts"));
    root.finish();
    document.finish();
    return facts;
  } catch (const base::Error&) {
    return std::nullopt;  // of another version, or damaged: it is written anew
  }
}

void write_host_memo(const std::filesystem::path& path,
                     const std::string& witness,
                     const spec::HostFacts& facts) {
  base::make_directories(path.parent_path());
  const nlohmann::ordered_json memo = {
      {"schema", memo_schema}, {"witness", witness}, {"facts", spec::to_json(facts)}};
  base::write_file_atomically(path, base::pretty_json(memo), base::Durability::ordered_only, 0600);
}

void forget_old_memos(const std::filesystem::path& folder) {
  const auto oldest = std::filesystem::file_time_type::clock::now() - std::chrono::days(30);
  for (const auto& memo : entries_of(folder)) {
    std::error_code ignored;
    const auto written = std::filesystem::last_write_time(memo, ignored);
    if (!ignored && written < oldest) std::filesystem::remove(memo, ignored);
  }
}

}  // namespace sabath::probe
