#include "crate/crate_document_json.hpp"
#include "croissant/file_facts.hpp"

#include <sabath/base/text/codes.hpp>
#include <sabath/exchange/licences.hpp>
#include <sabath/exchange/run_crate.hpp>

#include <nlohmann/json.hpp>

namespace sabath::exchange {
namespace {

using nlohmann::json;

std::string about(const std::string& path) {
  if (path.starts_with("runs/")) return "A run with all that is needed to repeat it";
  if (path.starts_with("baselines/")) return "A baseline that names one of the runs";
  if (path == "verdict.json") return "How the runs were judged";
  if (path == "study.json") return "The study that the runs are of";
  if (path == crate_manifest) return "SHA-256 of each member";
  return "A file about the runs";
}

}  // namespace

std::string group_crate(const CrateGroup& group) {
  json graph = json::array();
  std::vector<std::string> licenses;
  std::vector<json> entities;
  for (const std::string& license : group.licenses) {
    const bool is_known = spdx_id(license) == license;
    licenses.push_back(is_known ? spdx_url(license)
                                : "#license/" + base::percent_encoded(license, "-._~"));
    entities.push_back({{"@id", licenses.back()},
                        {"@type", "CreativeWork"},
                        {"name", license},
                        {"description", "A licence of what this crate holds: " + license}});
  }
  std::vector<std::string> parts;
  for (const CrateMember& member : group.members) {
    parts.push_back(base::percent_encoded(member.path, "-._~/"));
    entities.push_back({{"@id", parts.back()},
                        {"@type", "File"},
                        {"name", member.path},
                        {"description", about(member.path)},
                        {"contentSize", std::to_string(member.size_bytes)},
                        {"encodingFormat", media_type_of(member.path)},
                        {"sha256", member.digest.hex}});
  }
  graph.push_back({{"@id", crate_metadata},
                   {"@type", "CreativeWork"},
                   {"about", crate_reference("./")},
                   {"conformsTo", crate_reference("https://w3id.org/ro/crate/1.1")}});
  graph.push_back({{"@id", "./"},
                   {"@type", "Dataset"},
                   {"name", group.name},
                   {"description", std::to_string(group.runs.size()) + " runs, recorded by sabath"},
                   {"datePublished", crate_time(group.published)},
                   {"license", crate_references(licenses)},
                   {"author", crate_reference("#institution")},
                   {"publisher", crate_reference("#institution")},
                   {"hasPart", crate_references(parts)}});
  // Records have accounts, not persons: none is invented.
  graph.push_back({{"@id", "#institution"},
                   {"@type", "Organization"},
                   {"name", "not stated"},
                   {"url", "https://w3id.org/sabath/"}});
  for (json& entity : entities)
    graph.push_back(std::move(entity));
  return crate_text({{"@context",
                      {"https://w3id.org/ro/crate/1.1/context",
                       "https://w3id.org/ro/terms/workflow-run/context"}},
                     {"@graph", std::move(graph)}});
}

std::string group_page(const CrateGroup& group) {
  std::string page = "# " + group.name +
                     "\n\nRuns recorded by sabath. Take them in, and repeat one of them:\n\n"
                     "    sabath import FILE.crate.zip\n    sabath repro RUN\n\n";
  for (const std::string& run : group.runs)
    page += "- " + run + "\n";
  return page;
}

}  // namespace sabath::exchange
