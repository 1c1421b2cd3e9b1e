#pragma once

#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <string>

namespace sabath::home {

/// The text of record.json.
std::string record_text(const spec::RunRecord& record);
void write_host_facts(const std::filesystem::path& file, const spec::HostFacts& facts);

}  // namespace sabath::home
