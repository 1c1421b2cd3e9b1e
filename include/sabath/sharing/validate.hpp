#pragma once

#include <sabath/base/observer.hpp>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::sharing {

/// The answer about one file.
struct Validation {
  std::filesystem::path place{};
  std::string kind{};                ///< "croissant", "crate", ...; empty: not recognised
  std::string problem{};             ///< empty: valid
  bool has_wrong_digest = false;     ///< bytes are not those that a digest names
  std::vector<std::string> notes{};  ///< what an import would drop, correct or keep
};

/// Checks a document or a crate as an import does, and writes nothing. With `ready`, a recipe whose
/// locks are not current and a baseline with proposed entries are not valid; else notes say so.
/// Croissant: files beside the document are held against their digests. Throws Error{interrupted}.
Validation validate(const std::filesystem::path& place,
                    bool ready,
                    base::Observer& observer,
                    const std::stop_token& stop);

/// Text for a terminal.
std::string text_of(const std::vector<Validation>& answers);

}  // namespace sabath::sharing
