#include "layer_key.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::env {

base::Digest layer_key(spec::LayerKind kind, const std::map<std::string, std::string>& facts) {
  const nlohmann::json preimage = {{"kind", spec::to_string(kind)}, {"facts", facts}};
  return base::sha256_of("sabath-env/1\n" + base::canonical_json(preimage));
}

}  // namespace sabath::env
