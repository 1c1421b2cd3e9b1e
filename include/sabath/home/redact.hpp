#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/base/text/known_secrets.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/site.hpp>

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::home {

/// The environment variables that can change a result or a time, values redacted; those whose name
/// speaks of a secret are named with their value replaced.
std::map<std::string, std::string> variables_that_matter(const base::Environment& environment);

/// Every secret of the environment (by the names of its variables, and within the values of all)
/// and of `others`.
base::KnownSecrets known_secrets(const base::Environment& environment,
                                 const std::vector<std::string>& others);

/// What a run needs to be done again is written as it is, so that it must have no secret: throws
/// Error{usage} that says where the recipe's text, an argument of its stages, or a value of a
/// parameter looks like one.
void refuse_secrets(const spec::Recipe& recipe, const spec::ParameterValues& values);
/// The same of the words that a run is found by.
void refuse_secrets(const std::vector<std::string>& tags);
/// The same of a command and variables with their placeholders filled in.
void refuse_secrets(const spec::PlannedStage& stage);
/// The same of what job scripts and batches are made of. `file`: where the site is described.
void refuse_secrets(const spec::Site& site, const std::filesystem::path& file);

/// A document as it may be written: each text in it redacted, and the texts of members whose name
/// speaks of a secret, but for what `refuse_secrets` has judged.
nlohmann::ordered_json redacted(nlohmann::ordered_json document);

}  // namespace sabath::home
