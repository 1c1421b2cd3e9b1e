#pragma once

#include <sabath/analysis/propose_baseline.hpp>
#include <sabath/analysis/run_needs.hpp>
#include <sabath/analysis/study_power.hpp>
#include <sabath/app/import_table.hpp>
#include <sabath/app/run_recipe.hpp>
#include <sabath/app/run_study.hpp>
#include <sabath/assets/fetch_assets.hpp>
#include <sabath/assets/repair_cache.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/cache/cache_maintenance.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/env/prefix_image.hpp>
#include <sabath/exchange/fair.hpp>
#include <sabath/home/run_trash.hpp>
#include <sabath/live/answers.hpp>
#include <sabath/serve/server_record.hpp>
#include <sabath/sharing/export_run.hpp>
#include <sabath/sharing/group_crate.hpp>
#include <sabath/sharing/import_crate.hpp>
#include <sabath/sharing/import_documents.hpp>
#include <sabath/sharing/validate.hpp>
#include <sabath/spec/collection.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/explanation.hpp>
#include <sabath/spec/group_comparison.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_count.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/study.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::cli {

/// One line of an answer that is a list of findings: what `verify` and `doctor` say.
struct Check {
  std::string what{};
  std::string state{};  ///< "ok", "note" or "bad"
  std::string detail{};
  std::string remedy{};
};

/// A document that was found, and how many runs used it; nothing for a run.
struct UsedDocument {
  catalog::DocumentRow row{};
  std::optional<std::uint64_t> uses{};
};

/// What `catalog check --fair` says of an asset.
struct FairReport {
  std::string asset{};
  std::vector<exchange::FairAnswer> answers{};
};

/// What `env show` says of a layer.
struct EnvironmentReport {
  env::EnvironmentEntry entry{};
  std::vector<std::string> recipes{};  ///< that have it, as they stand now
  std::vector<std::string> runs{};     ///< whose plan or record names it, oldest first
};

/// One of several names that could not be fetched.
struct FailedFetch {
  std::string name{};
  base::Error error;
};

struct WrittenReport {
  std::string file{};
  std::string format{};
  spec::RunCount runs{};
  std::uint64_t size_bytes = 0;
  std::vector<std::string> notes{};
};

/// What became of runs that were tagged, archived, removed or brought back.
struct CareAnswer {
  std::vector<std::string> changed{};      ///< ids of runs
  std::vector<std::string> unchanged{};    ///< where it was so already
  std::vector<analysis::RunNeed> needs{};  ///< what refers to runs that are to be removed
  std::string removal{};                   ///< of `rm`: where they lie
  base::DiskUse use{};
  bool dry_run = false;
};

/// What else than the cache itself knows of what lies in it.
struct CacheNames {
  std::map<base::Digest, std::vector<std::string>> assets{};
  std::map<base::Digest, std::vector<std::string>> runs{};

  /// The name of an asset, else a URL, else nothing.
  std::string origin_of(const cache::Stored& stored) const;
};

struct UsageRow {
  std::string cache{};  ///< the root
  std::string what{};   ///< "asset", "source", "tree", "object", "environment", "partial", ...
  std::string name{};
  std::uint64_t files = 0;
  std::uint64_t disk_bytes = 0;
};

/// The answers as JSON documents, for --json. The root is always an object.
using live::json_answer;
/// Saved selections, by name.
std::string json_answer(const std::map<std::string, std::string>& selections);
std::string json_answer(const std::vector<UsedDocument>& rows);
std::string json_answer(const std::vector<env::EnvironmentEntry>& entries);
std::string json_answer(const std::vector<EnvironmentReport>& reports);
/// What differs between two environments.
std::string json_answer(const std::vector<std::string>& differences);
std::string json_answer(const std::vector<execution::RunOutcome>& outcomes);
std::string json_answer(const std::vector<Check>& checks);
/// What that wrote on another node. Throws Error{launch}.
std::vector<Check> parse_checks(const std::string& text, const std::string& origin);
/// A document of spec, as it stands in its file. Defined for the types that answers_json.cpp lists.
template <class T>
std::string json_answer(const T& document);
std::string json_answer(const catalog::CatalogStats& stats);
std::string json_answer(const app::ImportReport& report);
std::string json_answer(const WrittenReport& report);
std::string json_answer(const analysis::Proposal& proposal);
std::string json_answer(const std::vector<env::PinnedFile>& files);
std::string json_answer(const std::vector<env::PrefixImage>& images);
std::string json_answer(const std::vector<const cache::Stored*>& stored, const CacheNames& names);
std::string json_answer(const std::vector<UsageRow>& rows,
                        const std::map<std::string, std::uint64_t>& totals);
std::string json_answer(const std::vector<cache::Pin>& pins);
std::string json_answer(const cache::GarbageReport& report,
                        const std::vector<home::ClearedRemoval>& cleared,
                        bool dry_run);
std::string json_answer(const std::vector<assets::Repaired>& repaired);
std::string json_answer(const CareAnswer& answer);
std::string json_answer(const std::vector<sharing::MadeDocument>& made);
std::string json_answer(const std::vector<FairReport>& reports);
std::string json_answer(const sharing::ImportedRun& run);
std::string json_answer(const sharing::ImportedGroup& group);
std::string json_answer(const std::vector<sharing::Validation>& answers);
std::string json_answer(const sharing::CrateReport& report);
std::string json_answer(const std::vector<home::Removal>& removals);
std::string json_answer(const serve::ServerRecord& record);
/// Returns an observer that writes what the library reports as JSON lines with a "type":
/// "progress", "note" or "warning". Progress of one task comes twice a second at most, and when it
/// ends.
std::unique_ptr<base::Observer> event_lines(std::function<void(std::string_view line)> write,
                                            base::Clock& clock);
/// One line with "type": "result", which ends the events of `fetch`.
std::string json_result_line(const std::vector<assets::FetchedAsset>& assets,
                             const std::vector<FailedFetch>& failed,
                             const std::optional<execution::RunOutcome>& applied = {});
/// {"error": {"kind": ..., "message": ..., "hint": ...}}, for stderr.
std::string json_error(const base::Error& error);

}  // namespace sabath::cli
