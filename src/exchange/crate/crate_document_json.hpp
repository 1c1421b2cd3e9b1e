#pragma once

#include <sabath/exchange/run_crate.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace sabath::exchange {

/// The metadata of a Process Run Crate as a value.
nlohmann::json process_document(const CrateRun& run);
/// Its text.
std::string crate_text(const nlohmann::json& document);

nlohmann::json crate_reference(const std::string& id);
/// A list of references: one is written bare, as validators recommend.
nlohmann::json crate_references(const std::vector<std::string>& ids);
/// A time with an offset: "Z" is not what the profile asks for.
std::string crate_time(std::string time);
/// The status of an action.
std::string crate_status(bool is_ok);

/// Addresses of the recipe of a run, and of the program that executed it.
std::string recipe_iri(const spec::RunRecord& record);
std::string program_iri(const spec::RunRecord& record);

}  // namespace sabath::exchange
