#include "cache_answers.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::cli {
namespace {

using nlohmann::ordered_json;

template <class Key>
const std::vector<std::string>& at(const std::map<Key, std::vector<std::string>>& map,
                                   const Key& key) {
  static const std::vector<std::string> none;
  const auto found = map.find(key);
  return found == map.end() ? none : found->second;
}

}  // namespace

std::string json_answer(const std::vector<const cache::Stored*>& stored, const CacheNames& names) {
  ordered_json items = ordered_json::array();
  for (const cache::Stored* const one : stored) {
    items.push_back({{"kind", to_string(one->kind)},
                     {"digest", one->digest.text()},
                     {"size", one->size_bytes},
                     {"disk", one->disk_bytes},
                     {"files", one->files},
                     {"last_used", base::format_rfc3339(one->last_used)},
                     {"assets", at(names.assets, one->digest)},
                     {"sources", one->sources},
                     {"unpacked_from", one->unpacked_from ? one->unpacked_from->text() : ""},
                     {"pins", one->pins},
                     {"runs", at(names.runs, one->digest)},
                     {"made_by", one->stages},
                     {"trees", one->trees},
                     {"path", one->path.string()},
                     {"cache", one->root.string()}});
  }
  return base::pretty_json({{"schema", 1}, {"stored", items}});
}

std::string json_answer(const std::vector<UsageRow>& rows,
                        const std::map<std::string, std::uint64_t>& totals) {
  ordered_json items = ordered_json::array();
  for (const UsageRow& row : rows) {
    items.push_back({{"cache", row.cache},
                     {"what", row.what},
                     {"name", row.name},
                     {"files", row.files},
                     {"disk", row.disk_bytes}});
  }
  ordered_json sums = ordered_json::array();
  for (const auto& [root, disk_bytes] : totals)
    sums.push_back({{"cache", root}, {"disk", disk_bytes}});
  return base::pretty_json({{"schema", 1}, {"usage", items}, {"totals", sums}});
}

std::string json_answer(const std::vector<cache::Pin>& pins) {
  ordered_json items = ordered_json::array();
  for (const cache::Pin& pin : pins) {
    ordered_json digests = ordered_json::array();
    for (const base::Digest& digest : pin.digests)
      digests.push_back(digest.text());
    items.push_back({{"name", pin.name},
                     {"reason", pin.reason},
                     {"user", pin.user},
                     {"made", pin.made},
                     {"digests", digests}});
  }
  return base::pretty_json({{"schema", 1}, {"pins", items}});
}

std::string json_answer(const cache::GarbageReport& report, bool dry_run) {
  ordered_json removed = ordered_json::array();
  for (const cache::RemovedItem& item : report.removed) {
    removed.push_back({{"kind", item.kind},
                       {"name", item.name},
                       {"sources", item.sources},
                       {"disk", item.disk_bytes},
                       {"last_used", base::format_rfc3339(item.last_used)}});
  }
  ordered_json kept = ordered_json::array();
  for (const auto& [reason, sum] : report.kept)
    kept.push_back({{"reason", reason}, {"count", sum.count}, {"disk", sum.disk_bytes}});
  return base::pretty_json({{"schema", 1},
                            {"dry_run", dry_run},
                            {"removed", removed},
                            {"freed", report.freed_bytes},
                            {"before", report.before_bytes},
                            {"kept", kept}});
}

std::string json_answer(const std::vector<assets::Repaired>& repaired) {
  ordered_json items = ordered_json::array();
  for (const assets::Repaired& one : repaired) {
    items.push_back({{"kind", to_string(one.kind)},
                     {"digest", one.digest.text()},
                     {"ok", one.ok},
                     {"size", one.size_bytes},
                     {"transferred", one.transferred},
                     {"source", one.source},
                     {"problem", one.problem}});
  }
  return base::pretty_json({{"schema", 1}, {"repaired", items}});
}

}  // namespace sabath::cli
