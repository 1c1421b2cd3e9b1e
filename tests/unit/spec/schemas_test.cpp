// docs/formats/*.schema.json of the documents that sabath writes are made from their descriptions.
#include "schema_writer.hpp"
#include "spec/documents/configuration_json.hpp"
#include "spec/documents/ranking_json.hpp"
#include "spec/documents/secret_json.hpp"
#include "spec/documents/site_json.hpp"
#include "spec/recipes/output_trees_json.hpp"
#include "spec/recipes/package_lock_json.hpp"
#include "spec/recipes/study_json.hpp"
#include "spec/records/baseline_json.hpp"
#include "spec/records/hook_json.hpp"
#include "spec/records/run_record_json.hpp"
#include "spec/records/written_reports_json.hpp"
#include "support/golden.hpp"

#include <sabath/base/file.hpp>
#include <sabath/spec/run_record.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

using namespace sabath;

namespace {

/// Compares docs/formats/<name>.schema.json with `schema`. SABATH_TEST_ACCEPT=1 in the environment
/// writes the file.
void check_file(const std::string& name, const nlohmann::ordered_json& schema) {
  const std::string actual = test::compact_text(schema) + "\n";
  const auto file =
      std::filesystem::path(SABATH_SOURCE_DIR) / "docs/formats" / (name + ".schema.json");
  CHECK(test::golden(file.string(), actual) == actual);
}

template <class T>
void check_schema(const std::string& name, const std::string& title, const std::string& text) {
  check_file(name, test::SchemaWriter::document<T>("sabath " + title, text));
}

}  // namespace

TEST_CASE("formats: the schemas of plans, records and their parts are as they are described") {
  check_schema<spec::RunPlan>(
      "plan", "run plan", "plan.json: everything resolved, written before the run starts.");
  check_schema<spec::RunStatus>(
      "status", "run status", "status.json: replaced atomically while the run is under way.");
  check_schema<spec::RunRecord>(
      "record", "run record", "record.json: the run; written last, never changed again.");
  check_schema<spec::HookReport>(
      "hook", "hook report", "What a hook gets about a run, on stdin or posted.");
  check_schema<spec::HostFacts>(
      "host", "host facts", "host-<node>.json: what a node is, and how it was when looked at.");
  check_schema<spec::OutputTrees>(
      "output-trees",
      "digests of the values of an output",
      "trees/<stage>/<path>.json: digests of the values of its arrays.");
}

TEST_CASE("formats: the schemas of environments are as they are described") {
  check_schema<spec::EnvironmentLock>(
      "resolved-environment",
      "resolved environment",
      "What the layers of an environment were resolved to on a machine: facts and keys.");
  check_schema<spec::SealedLock>(
      "environment-lock",
      "environment lock",
      "environment.lock.json, beside a recipe and under version control: which files its packages "
      "are. Written by 'sabath env lock'.");
}

TEST_CASE("formats: the schemas of studies and batches are as they are described") {
  check_schema<spec::StudyPlan>(
      "study", "study", "study.json: the runs of a study, written before the first of them.");
  check_schema<spec::BatchPlan>(
      "batch",
      "batch",
      "batch.json: what is handed to a scheduler at once; written before the first submission.");
  check_schema<spec::BatchJobs>(
      "submitted",
      "submitted jobs",
      "submitted.json: what the scheduler said to a batch; written after each submission.");
}

TEST_CASE("formats: the schemas of what is compared and checked are as they are described") {
  check_schema<spec::Baseline>("baseline", "baseline", "What is accepted of a recipe's runs.");
  check_schema<spec::CheckReport>("check", "check", "What `check --json` found.");
  check_schema<spec::Comparison>(
      "comparison", "comparison", "What `compare` found about a pair of runs.");
  check_schema<spec::GroupComparison>("group-comparison",
                                      "comparison of groups",
                                      "What `compare --by` found about groups of runs.");
  check_schema<spec::Ranking>("ranking", "ranking", "What `rank` found about groups of runs.");
  check_schema<spec::Explanation>(
      "explanation", "explanation", "What `explain` found about two runs that do not agree.");
}

TEST_CASE("formats: the schema of the rules of a ranking is as they are described") {
  check_file("ranking-rules",
             test::SchemaWriter::document_as<spec::RankingForm>(
                 "sabath rules of a ranking", "The rules that `rank --rules` reads."));
}

TEST_CASE("formats: the schemas of a user's settings are as they are described") {
  check_file("configuration",
             test::SchemaWriter::document_as<spec::ConfigurationForm>(
                 "sabath configuration", "config.json in the configuration folder."));
  check_file("site",
             test::SchemaWriter::document_as<spec::SiteForm>(
                 "sabath site",
                 "sites/<name>.json in the configuration folder: a place where runs execute."));
  check_file("credentials",
             test::SchemaWriter::document_as<spec::SecretsForm>(
                 "sabath credentials",
                 "credentials.json in the configuration folder, for its owner alone: secrets and "
                 "the hosts that may see them."));
}

TEST_CASE("formats: schemas that are written by hand have the layout of the others") {
  // Readers of these look at one part of a document while they read another.
  for (const std::string name : {"asset", "recipe", "scheduler", "report"}) {
    const auto file =
        std::filesystem::path(SABATH_SOURCE_DIR) / "docs/formats" / (name + ".schema.json");
    check_file(name, nlohmann::ordered_json::parse(base::read_file(file)));
  }
}
