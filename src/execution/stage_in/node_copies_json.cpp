#include "node_copies.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::execution {
namespace {

using nlohmann::ordered_json;

WantedCopies::Item read_item(base::JsonReader reader) {
  WantedCopies::Item item;
  item.key = reader.required("key").string();
  item.source = reader.required("source").string();
  base::JsonReader image = reader.optional("image");
  if (image.exists()) {
    item.image.emplace();
    item.image->prefix = item.source;
    item.image->layer = image.required("layer").string();
    item.image->path = image.required("path").string();
    item.image->digest.hex = image.required("sha256").string();
    item.image->unpacked_bytes = image.required("unpacked_bytes").unsigned_integer();
    image.finish();
  }
  reader.finish();
  return item;
}

ordered_json to_json(const WantedCopies::Item& item) {
  ordered_json json = {{"key", item.key}, {"source", item.source.string()}};
  if (item.image) {
    json["image"] = {{"layer", item.image->layer},
                     {"path", item.image->path.string()},
                     {"sha256", item.image->digest.hex},
                     {"unpacked_bytes", item.image->unpacked_bytes}};
  }
  return json;
}

}  // namespace

void write_wanted_copies(const std::filesystem::path& file, const WantedCopies& wanted) {
  ordered_json items = ordered_json::array();
  for (const WantedCopies::Item& item : wanted.items)
    items.push_back(to_json(item));
  const ordered_json json = {
      {"folder", wanted.folder}, {"holder", wanted.holder}, {"items", items}};
  base::write_file_atomically(file, base::pretty_json(json), base::Durability::ordered_only);
}

std::optional<WantedCopies> read_wanted_copies(const std::filesystem::path& file) {
  const auto text = base::read_file_if_exists(file);
  if (!text) return std::nullopt;
  base::JsonDocument document = base::JsonDocument::parse(*text, file.string());
  base::JsonReader root = document.root();
  WantedCopies wanted;
  wanted.folder = root.required("folder").string();
  wanted.holder = root.required("holder").string();
  for (base::JsonReader& item : root.required("items").items())
    wanted.items.push_back(read_item(item));
  root.finish();
  document.finish();
  return wanted;
}

}  // namespace sabath::execution
