#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace sabath::test {

Answer done(const Sabath& sabath, const std::vector<std::string>& words) {
  Answer answer = sabath(words);
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  return answer;
}

nlohmann::json answered(const Sabath& sabath, std::vector<std::string> words) {
  words.emplace_back("--json");
  const Answer answer = sabath(words);
  INFO(answer.output + answer.errors);
  nlohmann::json result;
  REQUIRE_NOTHROW(result = nlohmann::json::parse(answer.output));
  result["status"] = answer.status;
  return result;
}

}  // namespace sabath::test
