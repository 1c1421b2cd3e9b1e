#pragma once

#include "crate_content.hpp"
#include "private_facts.hpp"

#include <sabath/exchange/run_crate.hpp>

#include <filesystem>
#include <string>

namespace sabath::sharing {

/// Makes the documents of a run anonymous: with an id of its own, and without users, hosts and
/// paths of this place. What defines the run (recipe, parameters, facts of the environment) stays.
/// Adds a note from which run it is derived, by the digest of its record. Returns that digest.
/// Code, outputs and series stay as they are. Throws Error{storage}.
std::string make_anonymous(const std::filesystem::path& run,
                           const PrivateFacts& facts,
                           CrateContent& content,
                           exchange::CrateRun& crate);

}  // namespace sabath::sharing
