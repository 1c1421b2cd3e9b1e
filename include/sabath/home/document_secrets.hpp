#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/base/text/mask_secrets.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/site.hpp>

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::home {

/// The environment variables that can change a result or a time, with redacted values. Variables
/// named like secrets have their value replaced.
std::map<std::string, std::string> variables_that_matter(const base::Environment& environment);

/// All secrets of the environment (by the names of variables, and within all values) and of
/// `others`.
base::KnownSecrets known_secrets(const base::Environment& environment,
                                 const std::vector<std::string>& others);

/// Refuses secrets in what a plan stores unredacted. Throws Error{usage} with the place if the
/// recipe's text, an argument of its stages, or a parameter's value looks like a secret.
void refuse_secrets(const spec::Recipe& recipe, const spec::ParameterValues& values);
/// The same for tags, and for other texts of a user. `place` names them in the message.
void refuse_secrets(const std::vector<std::string>& texts, const std::string& place = "--tag");
/// The same for a command and variables with their placeholders filled in.
void refuse_secrets(const spec::PlannedStage& stage);
/// The same for the contents of job scripts and batches. `file`: the site's document.
void refuse_secrets(const spec::Site& site, const std::filesystem::path& file);

/// The document with redacted texts, also of members named like secrets. Leaves what
/// `refuse_secrets` has judged.
nlohmann::ordered_json redacted(nlohmann::ordered_json document);

}  // namespace sabath::home
