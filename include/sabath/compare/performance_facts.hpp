#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::compare {

inline constexpr const char* total_time_name = "total time";
/// Name of the row of a run's energy, which is shown and not judged.
inline constexpr const char* energy_name = "energy of the accelerators";

/// Sum of the readings that cover a whole GPU; nothing where a run has none.
std::optional<double> accelerator_joules(const spec::RunRecord& record);

/// What disturbed a run at its start: "n1: load 3.28 on 2 usable hardware thread(s) ...".
std::vector<std::string> disturbances(const spec::RunRecord& record);

/// "; 2 of 3 runs began on a machine that was not quiet"; empty for 0 disturbed.
std::string disturbed_text(std::uint64_t disturbed, std::uint64_t runs);

}  // namespace sabath::compare
