#include "crate/crate_document_json.hpp"
#include "croissant/file_facts.hpp"

#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/version.hpp>
#include <sabath/exchange/licences.hpp>
#include <sabath/exchange/run_crate.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace sabath::exchange {
namespace {

using nlohmann::json;
using spec::RunRecord;

constexpr const char* own_terms = "https://w3id.org/sabath/";
constexpr const char* profile = "https://w3id.org/ro/wfrun/process/0.5";

std::string encoded(const std::string& path) {
  return base::percent_encoded(path, "-._~/");
}

std::string text_of(double value) {
  const json number = base::json_number(value);
  return number.is_string() ? number.get<std::string>() : number.dump();
}

/// Builds the graph entity by entity.
class Graph {
 public:
  explicit Graph(const CrateRun& run) : run_(run), record_(run.record) {}

  json document() {
    add_files();
    add_parameters();
    add_inputs();
    add_metrics();
    add_use();
    add_software();
    add_user();
    json root = root_entity();
    json action = action_entity();
    std::vector<json> first{
        descriptor(), std::move(root), profile_entity(), license_entity(), std::move(action)};
    json graph = json::array();
    for (json& entity : first)
      graph.push_back(std::move(entity));
    for (json& entity : entities_)
      graph.push_back(std::move(entity));
    return {{"@context",
             {"https://w3id.org/ro/crate/1.1/context",
              "https://w3id.org/ro/terms/workflow-run/context"}},
            {"@graph", std::move(graph)}};
  }

 private:
  static json descriptor() {
    return {{"@id", crate_metadata},
            {"@type", "CreativeWork"},
            {"about", crate_reference("./")},
            {"conformsTo", crate_reference("https://w3id.org/ro/crate/1.1")}};
  }

  static json profile_entity() {
    return {{"@id", profile},
            {"@type", "CreativeWork"},
            {"name", "Process Run Crate"},
            {"version", "0.5"}};
  }

  std::string license_id() const {
    return spdx_id(run_.license) == run_.license ? spdx_url(run_.license) : "#license";
  }
  json license_entity() const {
    json entity = {{"@id", license_id()},
                   {"@type", "CreativeWork"},
                   {"name", run_.license},
                   {"description", "The licence of what this crate holds: " + run_.license}};
    if (license_id() != "#license") entity["url"] = license_id();
    return entity;
  }

  json root_entity() const {
    json root = {
        {"@id", "./"},
        {"@type", "Dataset"},
        {"name", record_.run_id},
        {"description", "A run of the recipe '" + record_.recipe_name + "', recorded by sabath"},
        {"datePublished", crate_time(record_.ended)},
        {"license", crate_reference(license_id())},
        {"conformsTo", crate_reference(profile)},
        {"hasPart", crate_references(parts_)},
        {"author", crate_reference("#user")},
        {"publisher", crate_reference("#institution")},
        {"mentions", crate_reference("#run")}};
    if (!run_.derived_from.empty()) root["isBasedOn"] = "urn:" + run_.derived_from;
    return root;
  }

  json action_entity() const {
    const bool is_ok = record_.state == spec::RunState::ok;
    json action = {
        {"@id", "#run"},
        {"@type", "CreateAction"},
        {"name", record_.run_id},
        {"description", record_.reproduce.empty() ? record_.recipe_name : record_.reproduce},
        {"agent", crate_reference("#user")},
        {"instrument", crate_reference(recipe_id())},
        {"startTime", crate_time(record_.started)},
        {"endTime", crate_time(record_.ended)},
        {"actionStatus", crate_status(is_ok)}};
    if (!is_ok)
      action["error"] = record_.message.empty() ? to_string(record_.state) : record_.message;
    if (!objects_.empty()) action["object"] = crate_references(objects_);
    if (!results_.empty()) action["result"] = crate_references(results_);
    if (!use_.empty()) action["resourceUsage"] = crate_references(use_);
    if (!variables_.empty()) action["environment"] = crate_references(variables_);
    return action;
  }

  std::string recipe_id() const { return recipe_iri(record_); }

  void add(json entity) { entities_.push_back(std::move(entity)); }

  void add_files() {
    for (const CrateMember& member : run_.members) {
      const std::string id = encoded(member.path);
      parts_.push_back(id);
      add({{"@id", id},
           {"@type", "File"},
           {"name", member.path},
           {"description", description_of(member.path)},
           {"contentSize", std::to_string(member.size_bytes)},
           {"encodingFormat", media_type_of(member.path)},
           {"sha256", member.digest.hex}});
    }
    std::ranges::sort(parts_);
    for (const spec::OutputRecord& output : record_.outputs) {
      const std::string id = encoded("run/outputs/" + output.stage + "/" + output.path);
      if (std::ranges::binary_search(parts_, id)) {
        results_.push_back(id);
        continue;
      }
      results_.push_back("#output/" + encoded(output.stage + "/" + output.path));
      add({{"@id", results_.back()},
           {"@type", "CreativeWork"},
           {"name", output.path},
           {"description",
            "An output of the stage '" + output.stage + "' that is not in this crate"},
           {"contentSize", std::to_string(output.size_bytes)},
           {"identifier", output.digest.text()}});
    }
  }

  static std::string description_of(const std::string& path) {
    if (path == "run/record.json")
      return "What the run was: inputs, environment, hosts, metrics, outputs";
    if (path == "run/plan.json") return "What was to be done";
    if (path == "run/series.h5") return "All points of the metrics";
    if (path == "run/code.tar.gz") return "The code of the run";
    if (path == "recipe.json") return "The recipe of the run";
    if (path == crate_manifest) return "SHA-256 of each member";
    if (path == crate_readme) return "What this crate is, and how to repeat the run";
    return path.starts_with("run/outputs/") ? "An output of the run" : "A file of the run";
  }

  void add_property(const std::string& id,
                    const std::string& name,
                    const std::string& value,
                    std::vector<std::string>& to) {
    to.push_back(id);
    add({{"@id", id}, {"@type", "PropertyValue"}, {"name", name}, {"value", value}});
  }

  void add_parameters() {
    for (const auto& [name, value] : record_.parameters)
      add_property("#parameter/" + encoded(name), name, spec::to_string(value), objects_);
    if (record_.seed.value)
      add_property("#seed", "seed", std::to_string(*record_.seed.value), objects_);
    for (const auto& [name, value] : record_.variables)
      add_property("#variable/" + encoded(name), name, value, variables_);
    objects_.emplace_back("recipe.json");
  }

  void add_inputs() {
    for (const spec::PlannedInput& input : record_.inputs) {
      const std::string id = "#input/" + encoded(input.role);
      objects_.push_back(id);
      json entity = {{"@id", id},
                     {"@type", "CreativeWork"},
                     {"name", input.asset},
                     {"description", "The data set of the role '" + input.role + "'"},
                     {"identifier", input.digest.text()}};
      if (!input.version.empty()) entity["version"] = input.version;
      const auto asset = std::ranges::find(run_.inputs, input.asset, &spec::Asset::name);
      if (asset != run_.inputs.end()) {
        entity["subjectOf"] = crate_reference(encoded("assets/" + input.asset + ".asset.json"));
        if (!asset->files.empty() && !asset->files.front().sources.empty())
          entity["url"] = asset->files.front().sources.front();
      }
      add(std::move(entity));
    }
  }

  void add_metrics() {
    for (const spec::MetricSummary& metric : record_.metrics) {
      const std::string name = metric.stream + "/" + metric.name;
      const double value = metric.performance ? metric.median : metric.judged.value_or(metric.last);
      json entity = {{"@id", "#metric/" + encoded(name)},
                     {"@type", "PropertyValue"},
                     {"name", name},
                     {"value", text_of(value)}};
      if (!metric.unit.empty()) entity["unitText"] = metric.unit;
      results_.push_back(entity["@id"].get<std::string>());
      add(std::move(entity));
    }
  }

  void add_use() {
    const auto use = [&](const char* name, double value, const char* unit) {
      const std::string id = std::string("#use/") + name;
      use_.push_back(id);
      add({{"@id", id},
           {"@type", "PropertyValue"},
           {"name", name},
           {"propertyID", std::string(own_terms) + "use/" + name},
           {"value", text_of(value)},
           {"unitCode", std::string("http://qudt.org/vocab/unit/") + unit}});
    };
    use("wall-time", record_.wall_s, "SEC");
    if (record_.usage.max_rss_bytes > 0)
      use("memory", static_cast<double>(record_.usage.max_rss_bytes), "BYTE");
  }

  void add_software() {
    const std::string sabath = program_iri(record_);
    std::vector<std::string> required{sabath};
    add({{"@id", sabath},
         {"@type", "SoftwareApplication"},
         {"name", "sabath"},
         {"softwareVersion", record_.sabath_version},
         {"url", own_terms}});
    std::set<std::string> seen;
    for (const spec::BuiltLayer& layer : record_.environment.layers) {
      for (const auto& [name, version] :
           layer.packages.value_or(std::map<std::string, std::string>{})) {
        const std::string id =
            std::string(own_terms) + "package/" + encoded(name) + "/" + encoded(version);
        if (!seen.insert(id).second) continue;
        required.push_back(id);
        add({{"@id", id},
             {"@type", "SoftwareApplication"},
             {"name", name},
             {"softwareVersion", version},
             {"url", id}});
      }
    }
    add({{"@id", recipe_id()},
         {"@type", "SoftwareApplication"},
         {"name", record_.recipe_name},
         {"softwareVersion", record_.recipe_definition.text()},
         {"url", recipe_id()},
         {"softwareRequirements", crate_references(required)}});
  }

  /// A record has an account, not a person: the institution is not stated, and none is invented.
  void add_user() {
    add({{"@id", "#user"},
         {"@type", "Person"},
         {"name", record_.user},
         {"affiliation", crate_reference("#institution")}});
    add({{"@id", "#institution"},
         {"@type", "Organization"},
         {"name", "not stated"},
         {"url", own_terms}});
  }

  const CrateRun& run_;
  const RunRecord& record_;
  std::vector<json> entities_{};
  std::vector<std::string> parts_{};
  std::vector<std::string> objects_{};
  std::vector<std::string> results_{};
  std::vector<std::string> use_{};
  std::vector<std::string> variables_{};
};

}  // namespace

json crate_reference(const std::string& id) {
  return {{"@id", id}};
}

json crate_references(const std::vector<std::string>& ids) {
  if (ids.size() == 1) return crate_reference(ids.front());
  json list = json::array();
  for (const std::string& id : ids)
    list.push_back(crate_reference(id));
  return list;
}

std::string crate_time(std::string time) {
  if (time.ends_with('Z')) time.replace(time.size() - 1, 1, "+00:00");
  return time;
}

std::string crate_status(bool is_ok) {
  return std::string("http://schema.org/") + (is_ok ? "Completed" : "Failed") + "ActionStatus";
}

std::string recipe_iri(const RunRecord& record) {
  return std::string(own_terms) + "recipe/" + record.recipe_name + "/" +
         record.recipe_definition.hex.substr(0, 16);
}

std::string program_iri(const RunRecord& record) {
  return std::string(own_terms) + "program/" + record.sabath_version;
}

std::string crate_text(const json& document) {
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

json process_document(const CrateRun& run) {
  return Graph(run).document();
}

std::string process_crate(const CrateRun& run) {
  return crate_text(process_document(run));
}

std::string crate_page(const CrateRun& run) {
  const RunRecord& record = run.record;
  std::string page = "# " + record.run_id + "\n\nA run of the recipe `" + record.recipe_name +
                     "`, recorded by sabath " + record.sabath_version + ". It ended as `" +
                     std::string(to_string(record.state)) + "` on " + record.ended + ".\n\n" +
                     "Repeat it, and see whether the results are the same:\n\n    sabath repro "
                     "FILE.crate.zip\n\n" +
                     "Look at it:\n\n    sabath import FILE.crate.zip\n    sabath show " +
                     record.run_id + "\n\n" + "| metric | value | unit |\n|---|---|---|\n";
  for (const spec::MetricSummary& metric : record.metrics) {
    const double value = metric.performance ? metric.median : metric.judged.value_or(metric.last);
    page += "| " + metric.stream + "/" + metric.name + " | " + text_of(value) + " | " +
            metric.unit + " |\n";
  }
  return page;
}

}  // namespace sabath::exchange
