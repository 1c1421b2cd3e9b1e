#pragma once

#include <string_view>

namespace sabath::spec {

/// Parts of entries of HostFacts::noise that hold for every run on a node.
inline constexpr std::string_view governor_noise = "the frequency governor is ";
inline constexpr std::string_view heat_noise = " were slowed down for heat since boot";

/// True for what disturbed the one run: load, other processes on a GPU, little memory.
inline bool is_passing_noise(std::string_view noise) {
  return !noise.starts_with(governor_noise) && noise.find(heat_noise) == std::string_view::npos;
}

}  // namespace sabath::spec
