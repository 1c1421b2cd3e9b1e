#include "crate/crate_document_json.hpp"
#include "croissant/file_facts.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/exchange/run_crate.hpp>
#include <sabath/spec/recipe.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

namespace sabath::exchange {
namespace {

using nlohmann::json;

constexpr const char* workflow_profile = "https://w3id.org/ro/wfrun/workflow/0.5";
constexpr const char* provenance_profile = "https://w3id.org/ro/wfrun/provenance/0.5";
constexpr const char* workflow_crate = "https://w3id.org/workflowhub/workflow-ro-crate/1.0";
constexpr const char* formal_parameter =
    "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE";
constexpr const char* workflow_terms =
    "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE";
constexpr const char* recipe_file = "recipe.json";

std::string type_of(const spec::ParameterValue& value) {
  if (std::holds_alternative<bool>(value)) return "Boolean";
  if (std::holds_alternative<std::int64_t>(value)) return "Integer";
  return std::holds_alternative<double>(value) ? "Float" : "Text";
}

/// When a stage that began at `started` had ended.
std::string end_of(const std::string& started, double wall_s) {
  const auto begin = base::parse_rfc3339(started);
  if (!begin) return {};
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(wall_s));
  return base::format_rfc3339(*begin + took);
}

/// Changes the document of a process crate into that of a Provenance Run Crate: the recipe is a
/// workflow, each stage a step with its own action.
class ProvenanceDocument {
 public:
  ProvenanceDocument(const CrateRun& run, json document)
      : record_(run.record), document_(std::move(document)) {}

  json made() {
    add_profiles();
    add_formal_parameters();
    for (const spec::StageRecord& stage : record_.stages)
      add_stage(stage);
    change_recipe();
    add_engine();
    change_action();
    for (json& entity : added_)
      document_["@graph"].push_back(std::move(entity));
    return std::move(document_);
  }

 private:
  json& entity(const std::string& id) {
    for (json& one : document_["@graph"])
      if (one["@id"] == id) return one;
    throw std::logic_error("no entity " + id);
  }

  bool has_entity(const std::string& id) const {
    return std::ranges::any_of(document_["@graph"],
                               [&](const json& one) { return one["@id"] == id; });
  }

  void add_profiles() {
    json& root = entity("./");
    json profiles = json::array({root["conformsTo"]});
    for (const char* one : {workflow_profile, provenance_profile, workflow_crate})
      profiles.push_back(crate_reference(one));
    root["conformsTo"] = std::move(profiles);
    root["mainEntity"] = crate_reference(recipe_file);
    json& descriptor = entity(crate_metadata);
    descriptor["conformsTo"] = {descriptor["conformsTo"], crate_reference(workflow_crate)};
    if (has_entity(crate_readme)) entity(crate_readme)["about"] = crate_reference("./");
    const auto add_profile = [&](const char* id, const char* name, const char* version) {
      added_.push_back(
          {{"@id", id}, {"@type", "CreativeWork"}, {"name", name}, {"version", version}});
    };
    add_profile(workflow_profile, "Workflow Run Crate", "0.5");
    add_profile(provenance_profile, "Provenance Run Crate", "0.5");
    add_profile(workflow_crate, "Workflow RO-Crate", "1.0");
    add_profile(workflow_terms, "ComputationalWorkflow", "1.0-RELEASE");
    added_.push_back({{"@id", "#language"},
                      {"@type", "ComputerLanguage"},
                      {"name", "recipe of sabath"},
                      {"alternateName", "sabath"},
                      {"identifier", crate_reference("https://w3id.org/sabath/recipe")},
                      {"url", crate_reference("https://w3id.org/sabath/recipe")}});
  }

  void add_formal(const std::string& name, const std::string& type, const std::string& example) {
    const std::string id = "#formal/" + base::percent_encoded(name, "-._~/");
    added_.push_back({{"@id", id},
                      {"@type", "FormalParameter"},
                      {"name", name},
                      {"additionalType", type},
                      {"conformsTo", crate_reference(formal_parameter)}});
    if (has_entity(example)) entity(example)["exampleOfWork"] = crate_reference(id);
    formal_.push_back(id);
  }

  void add_formal_parameters() {
    added_.push_back({{"@id", formal_parameter},
                      {"@type", "CreativeWork"},
                      {"name", "FormalParameter"},
                      {"version", "1.0-RELEASE"}});
    for (const auto& [name, value] : record_.parameters)
      add_formal(name, type_of(value), "#parameter/" + base::percent_encoded(name, "-._~/"));
    if (record_.seed.value) add_formal("seed", "Integer", "#seed");
  }

  std::string tool_id(const std::string& stage) const {
    return recipe_iri(record_) + "/stage/" + base::percent_encoded(stage, "-._~");
  }

  /// Ids of the outputs of a stage, as the process crate has them.
  std::vector<std::string> outputs_of(const std::string& stage) const {
    std::vector<std::string> ids;
    for (const spec::OutputRecord& output : record_.outputs) {
      if (output.stage != stage) continue;
      const std::string path = base::percent_encoded(stage + "/" + output.path, "-._~/");
      for (const std::string& id : {"run/outputs/" + path, "#output/" + path})
        if (has_entity(id)) ids.push_back(id);
    }
    return ids;
  }

  void add_stage(const spec::StageRecord& stage) {
    const std::string tool = tool_id(stage.name);
    const std::string part = base::percent_encoded(stage.name, "-._~");
    const std::string step = std::string(recipe_file) + "#" + part;
    const std::string action = "#stage/" + part;
    tools_.push_back(tool);
    steps_.push_back(step);
    added_.push_back({{"@id", tool},
                      {"@type", "SoftwareApplication"},
                      {"name", stage.name},
                      {"softwareVersion", record_.recipe_definition.text()},
                      {"url", tool},
                      {"description", "The stage '" + stage.name + "' of the recipe"}});
    added_.push_back({{"@id", step},
                      {"@type", "HowToStep"},
                      {"name", stage.name},
                      {"position", std::to_string(steps_.size())},
                      {"workExample", crate_reference(tool)}});
    if (stage.started.empty()) return;  // it was not executed
    const bool is_ok = stage.state == "ok" || stage.state == "reused";
    json done = {{"@id", action},
                 {"@type", "CreateAction"},
                 {"name", "The stage '" + stage.name + "' of " + record_.run_id},
                 {"description", base::joined(stage.argv, " ")},
                 {"instrument", crate_reference(tool)},
                 {"agent", crate_reference("#user")},
                 {"startTime", crate_time(stage.started)},
                 {"endTime", crate_time(end_of(stage.started, stage.wall_s))},
                 {"actionStatus", crate_status(is_ok)}};
    if (!is_ok) done["error"] = stage.message.empty() ? stage.state : stage.message;
    const auto outputs = outputs_of(stage.name);
    if (!outputs.empty()) done["result"] = crate_references(outputs);
    added_.push_back(std::move(done));
    actions_.push_back(action);
    const std::string control = "#control/" + part;
    controls_.push_back(control);
    added_.push_back({{"@id", control},
                      {"@type", "ControlAction"},
                      {"name", "Execution of the stage '" + stage.name + "'"},
                      {"instrument", crate_reference(step)},
                      {"object", crate_reference(action)},
                      {"actionStatus", crate_status(is_ok)}});
  }

  void change_recipe() {
    const std::string iri = recipe_iri(record_);
    auto& graph = document_["@graph"];
    const json software = entity(iri)["softwareRequirements"];
    graph.erase(std::ranges::find_if(graph, [&](const json& one) { return one["@id"] == iri; }));
    json& recipe = entity(recipe_file);
    recipe["@type"] = {"File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"};
    recipe["name"] = record_.recipe_name;
    recipe["url"] = iri;
    recipe["conformsTo"] = crate_reference(workflow_terms);
    recipe["version"] = record_.recipe_definition.text();
    recipe["programmingLanguage"] = crate_reference("#language");
    recipe["softwareRequirements"] = software;
    if (!formal_.empty()) recipe["input"] = crate_references(formal_);
    if (!tools_.empty()) recipe["hasPart"] = crate_references(tools_);
    if (!steps_.empty()) recipe["step"] = crate_references(steps_);
  }

  void add_engine() {
    if (controls_.empty()) return;
    const bool is_ok = record_.state == spec::RunState::ok;
    added_.push_back({{"@id", "#engine"},
                      {"@type", "OrganizeAction"},
                      {"name", "Execution of the recipe by sabath"},
                      {"instrument", crate_reference(program_iri(record_))},
                      {"agent", crate_reference("#user")},
                      {"object", crate_references(controls_)},
                      {"result", crate_reference("#run")},
                      {"startTime", crate_time(record_.started)},
                      {"endTime", crate_time(record_.ended)},
                      {"actionStatus", crate_status(is_ok)}});
    if (!is_ok) added_.back()["error"] = to_string(record_.state);
  }

  void change_action() {
    json& action = entity("#run");
    action["instrument"] = crate_reference(recipe_file);
    std::vector<std::string> mentioned{"#run"};
    mentioned.insert(mentioned.end(), actions_.begin(), actions_.end());
    entity("./")["mentions"] = crate_references(mentioned);
  }

  const spec::RunRecord& record_;
  json document_;
  std::vector<json> added_{};
  std::vector<std::string> formal_{};
  std::vector<std::string> tools_{};
  std::vector<std::string> steps_{};
  std::vector<std::string> actions_{};
  std::vector<std::string> controls_{};
};

}  // namespace

std::string provenance_crate(const CrateRun& run) {
  return crate_text(ProvenanceDocument(run, process_document(run)).made());
}

}  // namespace sabath::exchange
