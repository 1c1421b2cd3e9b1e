#pragma once

#include <sabath/base/path_lookup.hpp>
#include <sabath/base/unique_fd.hpp>

#include <string>

namespace sabath::base {

/// What a look-up ended with.
struct PathWalk {
  UniqueFd fd{};
  int code = 0;           ///< an errno where it failed
  std::string refused{};  ///< the link that is not trusted
  std::string why{};      ///< such as "its directory can be written by its group"
};

/// Opens a directory for look-ups (O_PATH). `start` is AT_FDCWD or a directory; `shown` is its
/// path. `is_beneath`: neither "/" nor ".." may lead out of `start`, but a trusted link may.
PathWalk walk_to(int start,
                 const std::string& path,
                 const std::string& shown,
                 bool is_beneath,
                 Links links,
                 Lookup lookup);

}  // namespace sabath::base
