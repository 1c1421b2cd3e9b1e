#include <sabath/base/version.hpp>

namespace sabath::base {

std::string_view version() {
  return SABATH_VERSION;
}

}  // namespace sabath::base
