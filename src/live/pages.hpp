#pragma once

#include <sabath/serve/live_source.hpp>

#include <nlohmann/json_fwd.hpp>

#include <mutex>
#include <string>

namespace sabath::live {

class ViewState;

// The documents of the pages (docs/formats/live.md). Each takes the state's mutex as long as it
// needs the state.

std::string about_json(ViewState& state);
std::string now_json(ViewState& state);
std::string run_json(ViewState& state, const std::string& id);
std::string usage_json(ViewState& state, const std::string& id);
std::string courses_json(ViewState& state, const serve::Query& query);
std::string log_json(ViewState& state, const serve::Query& query);
std::string record_json(ViewState& state, const std::string& id);
std::string runs_json(ViewState& state, const serve::Query& query);
std::string facets_json(ViewState& state, const serve::Query& query);
std::string report_json(ViewState& state, const serve::Query& query);
std::string compare_json(ViewState& state, const serve::Query& query);
std::string studies_json(ViewState& state);
std::string study_json(ViewState& state, const std::string& id);
std::string assets_json(ViewState& state, const serve::Query& query);
std::string asset_json(ViewState& state, const std::string& name);
std::string baselines_json(ViewState& state);

serve::Download open_output(ViewState& state, const serve::Query& query);

}  // namespace sabath::live
