#include "run_record_json.hpp"

#include "documents/document_json.hpp"

#include <sabath/base/text/json_members.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace sabath::spec {
namespace {

bool stands_for_itself(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/// The same as base::canonical_json, sooner: most texts need no escapes.
void append_canonical(std::string& all, const std::string& text) {
  if (std::all_of(text.begin(), text.end(), stands_for_itself)) {
    all.append("\"").append(text).append("\"");
  } else {
    all += base::canonical_json(text);
  }
}

using base::JsonPart;
using Parts = std::span<const JsonPart>;

constexpr std::array lock_parts{JsonPart{"key"}};
constexpr std::array layer_parts{JsonPart{"lock", lock_parts}};
constexpr std::array environment_parts{JsonPart{"layers", layer_parts}};
constexpr std::array cpu_parts{JsonPart{"model"}, JsonPart{"threads"}};
constexpr std::array memory_parts{JsonPart{"total_bytes"}};
constexpr std::array gpu_parts{JsonPart{"name"}};
constexpr std::array host_parts{JsonPart{"node"},
                                JsonPart{"cpu", cpu_parts},
                                JsonPart{"memory", memory_parts},
                                JsonPart{"gpus", gpu_parts},
                                JsonPart{"os"},
                                JsonPart{"kernel"}};
constexpr std::array output_parts{
    JsonPart{"stage"}, JsonPart{"path"}, JsonPart{"size_bytes"}, JsonPart{"digest"}};
constexpr std::array summary_parts{JsonPart{"schema"},
                                   JsonPart{"run_id"},
                                   JsonPart{"study_id"},
                                   JsonPart{"repeats"},
                                   JsonPart{"reproduce"},
                                   JsonPart{"state"},
                                   JsonPart{"message"},
                                   JsonPart{"created"},
                                   JsonPart{"started"},
                                   JsonPart{"ended"},
                                   JsonPart{"wall_s"},
                                   JsonPart{"user"},
                                   JsonPart{"recipe_name"},
                                   JsonPart{"recipe_digest"},
                                   JsonPart{"model"},
                                   JsonPart{"parameters"},
                                   JsonPart{"seed"},
                                   JsonPart{"tags"},
                                   JsonPart{"inputs"},
                                   JsonPart{"environment", environment_parts},
                                   JsonPart{"outputs", output_parts},
                                   JsonPart{"metrics"},
                                   JsonPart{"hosts", host_parts},
                                   JsonPart{"facets"}};

/// Reads only what belongs to a summary.
class SummaryReader {
 public:
  template <class T>
  using Ref = T&;

  SummaryReader(base::JsonReader& reader, Parts parts) : reader_(reader), parts_(parts) {}

  template <class T>
  void operator()(const char* key, T& member, const char* = "") {
    const auto part = std::find_if(
        parts_.begin(), parts_.end(), [&](const JsonPart& one) { return one.key == key; });
    if (part == parts_.end()) return;
    if (part->parts.empty()) {
      FieldReader io(reader_);
      io(key, member);
    } else {
      read(reader_.required(key), part->parts, member);
    }
  }

 private:
  template <class T>
  static void read(base::JsonReader reader, Parts parts, T& value) {
    if constexpr (is_vector<T>) {
      for (const base::JsonReader& item : reader.items())
        read(item, parts, value.emplace_back());
    } else if constexpr (requires(SummaryReader & io) { describe(io, value); }) {
      SummaryReader io(reader, parts);
      describe(io, value);
    }
  }

  base::JsonReader& reader_;
  Parts parts_;
};

}  // namespace

bool OutputRecord::is_outdated() const {
  constexpr std::string_view of_earlier_versions = "hashed only: it was written to ";
  return kept && (kept->starts_with(outdated_begin) || kept->starts_with(of_earlier_versions));
}

const Facet* RunRecord::facet(std::string_view name) const {
  const auto found = std::find_if(
      facets.begin(), facets.end(), [&](const Facet& facet) { return facet.name == name; });
  return found == facets.end() ? nullptr : &*found;
}

base::Digest Facet::digest() const {
  std::string all = "{";
  for (const auto& [item, value] : items) {
    if (all.size() > 1) all += ',';
    append_canonical(all, item);
    all += ':';
    append_canonical(all, value);
  }
  return base::sha256_of(all + "}");
}

nlohmann::ordered_json to_json(const RunStatus& status) {
  return document_of(status);
}

RunStatus parse_run_status(std::string_view text, const std::string& origin) {
  return parse_document<RunStatus>(text, origin);
}

nlohmann::ordered_json to_json(const RunRecord& record) {
  return document_of(record);
}

RunRecord parse_run_record(std::string_view text, const std::string& origin) {
  return parse_document<RunRecord>(text, origin);
}

RunRecord parse_run_summary(std::string_view text, const std::string& origin) {
  const auto members = base::json_members(text, summary_parts);
  if (!members) return parse_run_record(text, origin);  // which says what is wrong with it
  base::JsonDocument document = open_document(*members, origin);
  base::JsonReader root = document.root();
  root.required("schema", schema_hint);
  RunRecord record;
  SummaryReader io(root, summary_parts);
  describe(io, record);
  document.finish();
  return record;
}

nlohmann::ordered_json to_json(const HostFacts& facts) {
  return document_of(facts);
}

HostFacts read_host_facts(base::JsonReader reader) {
  HostFacts facts;
  reader.optional("schema");  // there where the facts were a document of their own
  FieldReader io(reader);
  describe(io, facts);
  reader.finish();
  return facts;
}

HostFacts parse_host_facts(std::string_view text, const std::string& origin) {
  return parse_document<HostFacts>(text, origin);
}

}  // namespace sabath::spec
