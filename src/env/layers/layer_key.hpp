#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <map>
#include <string>

namespace sabath::env {

/// sha256("sabath-env/1\n" + canonical JSON of {"facts": facts, "kind": kind}). The facts hold all
/// that identifies a layer, its platform and the layer before it too, so that a lock explains its
/// key. A change in how sabath builds wants a new number.
base::Digest layer_key(spec::LayerKind kind, const std::map<std::string, std::string>& facts);

}  // namespace sabath::env
