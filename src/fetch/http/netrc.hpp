#pragma once

#include <string>

namespace sabath::fetch {

/// Whether libcurl should read the user's .netrc: it does so anew for each request, which for
/// thousands of small files is thousands of files opened in vain. Looks into it once a host.
class Netrc {
 public:
  /// False where it has nothing for `host`, which may have a port; true where that is not certain.
  bool may_name(const std::string& host);

 private:
  std::string host_{};  ///< that was asked for last
  bool may_name_ = true;
};

}  // namespace sabath::fetch
