#pragma once

#include <sabath/base/clock.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace sabath::home {

/// Unpredictable random bits of the system.
std::uint64_t random_bits();

/// Makes `parent`/<name>-<YYYYMMDD>-<hhmmss>-<so many letters> by an exclusive mkdir: no two ever
/// share one. The letters begin with `first` and are random behind it. Throws Error{storage}.
std::filesystem::path make_dated_folder(const std::filesystem::path& parent,
                                        const std::string& name,
                                        int letters,
                                        base::Clock& clock,
                                        const std::string& first = {});

/// Throws Error{storage} where others can exchange what is in the folder: they could choose what is
/// written over.
void require_fixed(const std::filesystem::path& folder);

}  // namespace sabath::home
