#pragma once

#include "documents/fields_json.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/recipe.hpp>

namespace sabath::spec {

/// "resources" of a stage as people write them: "4 GiB", "00:10:00".
Resources read_resources(base::JsonReader reader);

/// As people write them.
struct ResourcesForm {
  using Value = Resources;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, Resources> resources) {
    io("nodes", resources.nodes, CountRule{1});
    io("tasks", resources.tasks, CountRule{1}, "on all nodes together");
    io("cpus", resources.cpus, CountRule{}, "of each task");
    io("gpus", resources.gpus, CountRule{}, "on each node");
    io("memory", resources.memory_bytes, SizeRule{}, "bytes, or a text such as \"4 GiB\"");
    io("time", resources.time, TimeRule{}, "of wall time: seconds, or a text such as \"10m\"");
    io("silence", resources.silence, TimeRule{}, "of wall time without any output");
    io("grace", resources.grace, TimeRule{}, "from SIGTERM to SIGKILL");
  }
  static void check(const Resources& resources, base::JsonReader& reader);
};

/// As plans hold them: bytes and seconds. What is not said has no key; plans were once written with
/// all keys, and are still read.
template <class Io>
void describe(Io& io, FieldRef<Io, Resources> resources) {
  SABATH_FIELDS(io, resources, nodes, tasks, cpus, gpus, memory_bytes);
  io("time", resources.time, "seconds");
  io("silence", resources.silence, "seconds");
  io("grace", resources.grace, "seconds");
}

}  // namespace sabath::spec
