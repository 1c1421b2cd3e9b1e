#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/spec/baseline.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sabath::home {

/// Throws Error{not_found|usage}, also if a metric's summary does not follow from its values.
spec::Baseline read_baseline(const std::filesystem::path& file);

/// Whether `read_baseline` takes the file, by its name ("*.json") and then its content. False for a
/// file that cannot be read.
bool is_baseline(const std::filesystem::path& file);

/// The same text for the same baseline.
void write_baseline(const std::filesystem::path& file, const spec::Baseline& baseline);

/// Whether `pattern` covers `key`. Site and device of the pattern may be any.
bool holds_for(const spec::BaselineKey& pattern, const spec::BaselineKey& key);

/// The accepted entry that counts for runs of a key, or null: the newest, one for just that site
/// and device before one for any.
const spec::BaselineEntry* accepted_for(const spec::Baseline& baseline,
                                        const spec::BaselineKey& key);

/// Accepts the proposed entries and returns their indices. Entries accepted before for the same key
/// stay as its history.
std::vector<std::size_t> accept_baseline(spec::Baseline& baseline,
                                         const spec::Acceptance& acceptance);

/// Describes how two keys differ, the most important difference first: "the site is 'a', of the
/// baseline 'b'".
std::vector<std::string> key_differences(const spec::BaselineKey& of_runs,
                                         const spec::BaselineKey& of_baseline);

/// The accepted entry that differs least from `key`, and in what. Fewest things count: the recipe's
/// definition before all others, then each parameter, data, task, site and device as one; of equal
/// numbers of these the entry whose parameters are closer. What `key` leaves empty (data and device
/// before there is a run) is taken to be as the entry has it.
struct NearestEntry {
  const spec::BaselineEntry* entry = nullptr;  ///< null: none is accepted
  std::vector<std::string> differences{};      ///< as key_differences
};
NearestEntry nearest_entry(const spec::Baseline& baseline, const spec::BaselineKey& key);

/// `key` with its empty parts filled in from the entry.
spec::BaselineKey completed(spec::BaselineKey key, const spec::BaselineEntry& entry);

/// "entry of 5 runs such as ID, accepted by NAME on DATE".
std::string entry_text(const spec::BaselineEntry& entry);

}  // namespace sabath::home
