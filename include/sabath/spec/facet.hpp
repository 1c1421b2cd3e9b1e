#pragma once

#include <sabath/base/digest.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

namespace sabath::spec {

/// A named part of a record that is digested on its own. `items` is the preimage and explains a
/// difference.
struct Facet {
  std::string name{};  ///< code, data, environment, parameters, seed, host, launch
  std::map<std::string, std::string> items{};

  bool operator==(const Facet&) const = default;
  base::Digest digest() const;  ///< sha256 of the canonical JSON of `items`
};

/// A facet without items: in records of a sabath that looks for what the next two name. What such a
/// record has and one without it has not is not known to differ.
inline constexpr std::string_view scope_facet = "scope";

/// How items of the facet `code` begin that tell of code elsewhere than the recipe.
inline constexpr std::string_view repository_item = "repository ";
inline constexpr std::string_view folder_item = "folder ";

inline bool is_external_code(std::string_view item) {
  return item.starts_with(repository_item) || item.starts_with(folder_item);
}

/// Of `determinism` and `variables`: has it a name that earlier versions did not know?
inline bool is_later_variable(std::string_view item) {
  constexpr auto heads = std::to_array<std::string_view>({"ACCELERATE_",
                                                          "ACC_DEVICE_",
                                                          "CRAY_ACC_",
                                                          "CRAY_CPU_TARGET",
                                                          "CRAY_CUDA_",
                                                          "CRAY_MALLOPT",
                                                          "CRAY_OMP_",
                                                          "DS_",
                                                          "FLAGS_",
                                                          "HF_",
                                                          "TORCHINDUCTOR_",
                                                          "TRANSFORMERS_"});
  return std::any_of(heads.begin(), heads.end(), [&](auto head) { return item.starts_with(head); });
}

}  // namespace sabath::spec
