#include "pins.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::cache {
namespace {

constexpr std::uint64_t schema = 1;

}  // namespace

std::string pin_text(const Pin& pin) {
  nlohmann::ordered_json digests = nlohmann::ordered_json::array();
  for (const base::Digest& digest : pin.digests)
    digests.push_back(digest.text());
  return base::pretty_json({{"schema", schema},
                            {"name", pin.name},
                            {"reason", pin.reason},
                            {"user", pin.user},
                            {"made", pin.made},
                            {"digests", digests}});
}

Pin parse_pin(std::string_view text, const std::string& origin) {
  base::JsonDocument document = base::JsonDocument::parse(text, origin);
  base::JsonReader root = document.root();
  base::JsonReader version = root.required("schema");
  if (version.exists() && version.unsigned_integer() != schema) version.problem("is not 1");
  Pin pin;
  pin.name = root.required("name").string();
  pin.reason = root.required("reason").string();
  pin.user = root.required("user").string();
  pin.made = root.required("made").string();
  for (base::JsonReader& item : root.required("digests").items()) {
    const std::string digest_text = item.string();
    const auto digest = base::parse_digest(digest_text);
    if (digest && digest->algorithm == base::DigestAlgorithm::sha256) {
      pin.digests.push_back(*digest);
    } else {
      item.problem("'" + digest_text + "' is not a sha256 digest");
    }
  }
  root.finish();
  document.finish();
  return pin;
}

}  // namespace sabath::cache
