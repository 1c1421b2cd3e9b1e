#pragma once

#include "crate_content.hpp"
#include "private_facts.hpp"

#include <sabath/sharing/export_run.hpp>

#include <string>
#include <vector>

namespace sabath::sharing {

/// What was found in the content of a crate.
struct OutgoingTexts {
  PrivateFacts facts{};
  std::vector<std::string> not_scanned{};  ///< members that are not text
};

/// Reads every text of a crate, also those in its archives of code. A file is a text if it has no
/// zero byte. Throws Error{usage} for a secret, with its place; Error{storage|interrupted}.
OutgoingTexts scan_texts(const CrateContent& content, const CrateTools& tools);

}  // namespace sabath::sharing
