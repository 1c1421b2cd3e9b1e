#pragma once

#include <string_view>
#include <vector>

namespace sabath::serve {

/// A file of src/serve/web that is served unchanged.
struct WebFile {
  std::string_view name{};  ///< "pages/run.js"
  std::string_view bytes{};
};

const std::vector<WebFile>& web_files();

/// Media type by the end of a name.
std::string_view media_type(std::string_view name);

}  // namespace sabath::serve
