#include "ended_badly.hpp"
#include "view_state.hpp"

#include <sabath/spec/run_state.hpp>

#include <nlohmann/json.hpp>

namespace sabath::live {

using nlohmann::ordered_json;

const std::string& EndedBadly::text(ViewState& state) {
  const base::SteadyTime now = state.clock().steady();
  catalog::Catalog& catalog = state.catalog();
  const std::uint64_t version = state.catalog_version();
  if (asked_ && version_ == version && now - *asked_ < between_questions) return text_;
  version_ = version;
  asked_ = now;
  const std::string badly =
      "(ended>=1d or since=1d),not (status=ok or status=planned or status=running or "
      "status=unknown or "
      "status=imported)";
  ordered_json ended = ordered_json::array();
  for (const catalog::RunRow& row : catalog.runs(most, badly, state.clock().now())) {
    ended.push_back({{"id", row.id},
                     {"recipe", row.recipe},
                     {"study", row.study},
                     {"state", spec::to_string(row.state)},
                     {"created", row.created},
                     {"node", row.node},
                     {"detail", row.message}});
  }
  text_ = ended.dump();
  return text_;
}

}  // namespace sabath::live
