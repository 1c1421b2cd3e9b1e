#include <sabath/spec/asset.hpp>

namespace sabath::spec {

std::string_view to_string(AssetKind kind) {
  switch (kind) {
    case AssetKind::dataset:
      return "dataset";
    case AssetKind::model:
      return "model";
    case AssetKind::tool:
      return "tool";
  }
  return "";
}

}  // namespace sabath::spec
