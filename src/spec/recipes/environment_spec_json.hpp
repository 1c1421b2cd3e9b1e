#pragma once

#include "documents/fields_json.hpp"

#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/loaded_modules.hpp>

namespace sabath::spec {

SABATH_DESCRIBE(LoadedModule, name, file, digest);

template <class Io>
void describe(Io& io, FieldRef<Io, LoadedModules> loaded) {
  io("system", loaded.system, "the script that defined 'module'");
  io("modules", loaded.modules);
  io("sets",
     loaded.sets,
     "before the layer's own variables; ${NAME} is the value before, $$ a dollar");
  io("unsets", loaded.unsets);
}

template <class Io>
void describe(Io& io, FieldRef<Io, LayerLock> lock) {
  SABATH_FIELDS(io, lock, kind, name);
  io("facts", lock.facts, "the preimage of the key");
  io("key", lock.key);
}

template <class Io>
void describe(Io& io, FieldRef<Io, EnvironmentLock> lock) {
  io("layers", lock.layers);
}

template <class Io>
void describe(Io& io, FieldRef<Io, ContainerImage> container) {
  io("engine", container.engine);
  io("program", container.program, "the engine's path");
  io("image", container.image, "as the engine finds it here");
  SABATH_FIELDS(io, container, gpus, binds);
}

template <class Io>
void describe(Io& io, FieldRef<Io, BuiltLayer> layer) {
  io("lock", layer.lock);
  io("prefix", layer.prefix, "empty where the layer has none");
  io("variables", layer.variables);
  io("modules", layer.modules, "of a modules layer: what was loaded, and all that this changed");
  io("container", layer.container, "how programs are started in it");
  io("lock_file", layer.lock_file, "of the lock file beside the recipe");
  io("packages",
     layer.packages,
     "name -> version of the packages found in the prefix when the plan was made");
}

template <class Io>
void describe(Io& io, FieldRef<Io, BuiltEnvironment> environment) {
  io("layers", environment.layers);
}

}  // namespace sabath::spec
