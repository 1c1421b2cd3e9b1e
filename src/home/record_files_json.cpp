#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/home/record_files.hpp>
#include <sabath/home/redact.hpp>

#include <nlohmann/json.hpp>

namespace sabath::home {

std::string record_text(const spec::RunRecord& record) {
  return base::pretty_json(redacted(spec::to_json(record)));
}

void write_host_facts(const std::filesystem::path& file, const spec::HostFacts& facts) {
  base::write_file_atomically(
      file, base::pretty_json(redacted(spec::to_json(facts))), base::Durability::ordered_only);
}

}  // namespace sabath::home
