#pragma once

#include <sabath/base/digest.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

struct LoadedModule {
  std::string name{};  ///< with its version, as the module system lists it: "openmpi/4.1.4"
  std::string file{};  ///< absolute path of the modulefile; empty: unknown
  base::Digest digest{};

  bool operator==(const LoadedModule&) const = default;
};

/// What a `modules` layer loaded, and all that this changed: enough to have the same environment
/// on a node that has no module system.
struct LoadedModules {
  std::string system{};                 ///< the script that defined `module`
  std::vector<LoadedModule> modules{};  ///< all, also those that others brought; as loaded
  std::map<std::string, std::string>
      sets{};  ///< as a layer's variables, and set before them; $NAME refers to earlier ones
  std::vector<std::string> unsets{};

  bool operator==(const LoadedModules&) const = default;
};

std::string to_text(const LoadedModules& loaded);
/// What `to_text` wrote. Throws Error{usage}.
LoadedModules parse_loaded_modules(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
