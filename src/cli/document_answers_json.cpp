#include "answers.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

namespace sabath::cli {

std::string json_answer(const std::vector<sharing::MadeDocument>& made) {
  nlohmann::ordered_json json{{"schema", 1}, {"documents", nlohmann::ordered_json::array()}};
  for (const sharing::MadeDocument& one : made) {
    json["documents"].push_back({{"kind", one.kind},
                                 {"name", one.name},
                                 {"version", one.version},
                                 {"path", one.path.string()},
                                 {"was_there", one.was_there},
                                 {"notes", one.notes},
                                 {"same_as", one.same_as},
                                 {"document", nlohmann::ordered_json::parse(one.text)}});
  }
  return base::pretty_json(json);
}

}  // namespace sabath::cli
