#pragma once

#include <string>

namespace sabath::fetch {

/// Decides whether libcurl reads the user's .netrc. libcurl opens the file for each request, also
/// for thousands of small files. This class looks into it once for each host.
class Netrc {
 public:
  /// Returns false where the file has nothing for `host`, which may have a port; true if unsure.
  bool may_name(const std::string& host);

 private:
  std::string host_{};  ///< of the last question
  bool may_name_ = true;
};

}  // namespace sabath::fetch
