#pragma once

#include "documents/fields_json.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/recipe.hpp>

namespace sabath::spec {

/// A number of bytes, or a text such as "4 GiB"; 0 where the member is missing.
std::uint64_t read_size(base::JsonReader reader);
/// Says what is wrong with the name of a resource, such as "cpus".
void check_resource(const std::string& name, base::JsonReader& reader);
/// "resources" of a stage as people write them: "4 GiB", "00:10:00".
Resources read_resources(base::JsonReader reader);

/// A length of time above 0 as people write it; nothing where the member is missing.
std::optional<std::chrono::seconds> read_length_of_time(base::JsonReader reader);

/// As plans hold them: bytes and seconds. What is not said has no key; plans were once written with
/// all keys, and are still read.
template <class Io>
void describe(Io& io, FieldRef<Io, Resources> resources) {
  io("nodes", resources.nodes);
  io("tasks", resources.tasks);
  io("cpus", resources.cpus);
  io("gpus", resources.gpus);
  io("memory_bytes", resources.memory_bytes);
  io("time", resources.time);
  io("silence", resources.silence);
  io("grace", resources.grace);
}

}  // namespace sabath::spec
