#include "claim.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::cache {

std::string claim_text(const ClaimRecord& record) {
  nlohmann::ordered_json value{{"schema", 1},
                               {"nonce", record.nonce},
                               {"beat", record.beat},
                               {"host", record.host},
                               {"process", record.process.text()}};
  if (!record.job.empty()) value["slurm_job_id"] = record.job;
  value["done"] = record.done_bytes;
  if (record.total_bytes) value["total"] = *record.total_bytes;
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  return value.dump(2, ' ', false, replace) + "\n";
}

std::optional<ClaimRecord> parse_claim(std::string_view text) {
  try {
    auto document = base::JsonDocument::parse(text, "claim");
    base::JsonReader root = document.root();
    ClaimRecord record;
    if (root.required("schema").unsigned_integer() != 1) return std::nullopt;
    record.nonce = root.required("nonce").string();
    record.beat = root.required("beat").unsigned_integer();
    record.host = root.required("host").string();
    const auto process = base::ProcessIdentity::parse(root.required("process").string());
    if (auto job = root.optional("slurm_job_id"); job.exists()) record.job = job.string();
    record.done_bytes = root.required("done").unsigned_integer();
    if (auto total = root.optional("total"); total.exists()) {
      record.total_bytes = total.unsigned_integer();
    }
    root.finish();
    document.finish();
    if (!process) return std::nullopt;
    record.process = *process;
    return record;
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

}  // namespace sabath::cache
