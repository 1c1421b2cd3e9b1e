#pragma once

#include "documents/fields_json.hpp"
#include "records/loaded_modules_json.hpp"

#include <sabath/spec/environment_spec.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, LayerLock> lock) {
  io("kind", lock.kind);
  io("name", lock.name);
  io("facts", lock.facts);
  io("key", lock.key);
}

template <class Io>
void describe(Io& io, FieldRef<Io, EnvironmentLock> lock) {
  io("layers", lock.layers);
}

template <class Io>
void describe(Io& io, FieldRef<Io, ContainerImage> container) {
  io("engine", container.engine);
  io("program", container.program);
  io("image", container.image);
  io("gpus", container.gpus);
  io("binds", container.binds);
}

template <class Io>
void describe(Io& io, FieldRef<Io, BuiltLayer> layer) {
  io("lock", layer.lock);
  io("prefix", layer.prefix);
  io("variables", layer.variables);
  io("modules", layer.modules);
  io("container", layer.container);
  io("lock_file", layer.lock_file);
  io("packages", layer.packages);
}

template <class Io>
void describe(Io& io, FieldRef<Io, BuiltEnvironment> environment) {
  io("layers", environment.layers);
}

}  // namespace sabath::spec
