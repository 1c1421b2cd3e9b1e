#pragma once

#include "documents/fields_json.hpp"

#include <sabath/spec/loaded_modules.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, LoadedModule> module) {
  io("name", module.name);
  io("file", module.file);
  io("digest", module.digest);
}

template <class Io>
void describe(Io& io, FieldRef<Io, LoadedModules> loaded) {
  io("system", loaded.system);
  io("modules", loaded.modules);
  io("sets", loaded.sets);
  io("unsets", loaded.unsets);
}

}  // namespace sabath::spec
