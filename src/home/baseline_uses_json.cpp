#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/home/baseline_uses.hpp>

#include <nlohmann/json.hpp>

#include <set>
#include <sstream>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;

struct BaselineUse {
  std::string digest{};
  std::vector<std::string> runs{};
};

fs::path uses_of(const fs::path& home) {
  return home / "baselines.jsonl";
}

/// By the path of the baseline.
std::map<std::string, BaselineUse> read_uses(const fs::path& home) {
  std::map<std::string, BaselineUse> uses;
  std::istringstream lines(base::read_file_if_exists(uses_of(home)).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    try {
      base::JsonDocument document = base::JsonDocument::parse(line, uses_of(home).string());
      base::JsonReader root = document.root();
      BaselineUse use{root.required("digest").string(), root.required("runs").strings()};
      const std::string file = root.required("baseline").string();
      document.finish();
      uses[file] = std::move(use);
    } catch (const base::Error&) {
      continue;
    }
  }
  return uses;
}

}  // namespace

void remember_baseline(const fs::path& home,
                       const fs::path& file,
                       const spec::Baseline& baseline,
                       const std::string& at) {
  std::set<std::string> runs;
  for (const spec::BaselineEntry& entry : baseline.entries) {
    for (const spec::BaselineRun& run : entry.runs)
      runs.insert(run.run_id);
  }
  const std::string path = fs::absolute(file).lexically_normal().string();
  const std::string digest = base::sha256_of(base::canonical_json(spec::to_json(baseline))).text();
  const auto known = read_uses(home);
  const auto same = known.find(path);
  if (same != known.end() && same->second.digest == digest) return;
  const nlohmann::json line{{"at", at}, {"baseline", path}, {"digest", digest}, {"runs", runs}};
  base::make_directories(home);
  base::append_lines(uses_of(home),
                     line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n");
}

std::map<std::string, std::vector<std::string>> runs_of_baselines(const fs::path& home) {
  std::map<std::string, std::vector<std::string>> named;
  for (const auto& [file, use] : read_uses(home)) {
    for (const std::string& run : use.runs)
      named[run].push_back(file);
  }
  return named;
}

}  // namespace sabath::home
