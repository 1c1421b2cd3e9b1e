// `sabath explain`: all minimal sufficient sets of changes, and what is said within a budget.
#include "support/answers.hpp"
#include "support/random_losses.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>
#include <set>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Names = std::set<std::string>;
using Sets = std::set<Names>;

json explained(const Sabath& sabath, const std::vector<std::string>& further = {}) {
  std::vector<std::string> words{"explain", "tag=a", "tag=b"};
  words.insert(words.end(), further.begin(), further.end());
  return answered(sabath, words);
}

/// The keys of a recipe with such parameters, each 1, and a loss.
std::string keys(const std::vector<std::string>& parameters) {
  std::string text;
  for (const std::string& name : parameters)
    text += (text.empty() ? "\"" : ", \"") + name +
            R"(": {"type": "int", "default": 1, "affects": "execution"})";
  return R"({"parameters": {)" + text +
         R"(}, "metrics": {"loss": {"unit": "1", "better": "lower"}}})";
}

std::string tell(const std::string& loss) {
  return R"(echo "{{\"step\": 1, \"loss\": )" + loss + R"(}}" >> $SABATH_METRICS)";
}

/// Runs the recipe as A, and with 2 for each parameter as B.
void run_both(const Sabath& sabath,
              const std::string& folder,
              const std::vector<std::string>& parameters) {
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  std::vector<std::string> words{"run", folder, "--seed", "1", "--tag", "b"};
  for (const std::string& name : parameters) {
    words.emplace_back("--set");
    words.push_back(name + "=2");
  }
  done(sabath, words);
}

/// The sets that are named, as far as each is minimal and confirmed.
Sets sufficient(const json& found) {
  Sets sets;
  for (const json& set : found["sufficient"]) {
    CHECK(set["minimal"] == true);
    CHECK(set["confirmed"] == true);
    sets.insert(set["changes"].get<Names>());
  }
  return sets;
}

void check_complete(const json& found, const Sets& sets) {
  INFO(found.dump(1));
  CHECK(found["status"] == 0);
  CHECK(found["complete"] == true);
  CHECK(sufficient(found) == sets);
  CHECK(found["untried"]["sets"] == 0);
  CHECK(found["cause"].get<Names>() == (sets.size() == 1 ? *sets.begin() : Names{}));
}

/// The minimal sets of parameters with which the loss is not 0, by looking at all.
Sets truth_of(const Losses& losses, std::size_t count) {
  std::vector<std::size_t> minimal;
  for (std::size_t bits = 1; bits < std::size_t{1} << count; ++bits) {
    bool is_minimal = losses.loss(bits) != 0;
    for (std::size_t part = (bits - 1) & bits; part != 0 && is_minimal; part = (part - 1) & bits)
      is_minimal = losses.loss(part) == 0;
    if (is_minimal) minimal.push_back(bits);
  }
  Sets sets;
  for (const std::size_t bits : minimal) {
    Names names;
    for (std::size_t change = 0; change < count; ++change) {
      if ((bits >> change & 1) != 0) names.insert("parameter p" + std::to_string(change));
    }
    sets.insert(names);
  }
  return sets;
}

}  // namespace

TEST_CASE("cli: explain names both of two parameters that each change the loss") {
  const Sabath sabath;
  const std::vector<std::string> parameters{"decoy", "order", "threads"};
  const std::string folder = sabath.shell_recipe(
      "both", tell("$(({param.order} + 4 * {param.threads}))"), keys(parameters));
  run_both(sabath, folder, parameters);
  const json found = explained(sabath);
  check_complete(found, {{"parameter order"}, {"parameter threads"}});
  CHECK(found["necessary"].empty());
  const std::size_t runs = sabath.count_runs();
  const Answer again = sabath({"explain", "tag=a", "tag=b", "--budget", "0"});
  CHECK(again.status == 0);
  CHECK_THAT(
      again.output,
      Contains("2 sets of changes are each sufficient: parameter order; parameter threads") &&
          !Contains("alone"));
  CHECK(sabath.count_runs() == runs);
}

TEST_CASE("cli: explain names both of two that change what is computed") {
  const Sabath sabath;
  const std::string folder = sabath.shell_recipe(
      "model",
      tell("$(({param.hidden} + 100 * {param.lr}))"),
      R"({"parameters": {"hidden": {"type": "int", "default": 32}, "lr": {"type": "int", "default": 1}},
          "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
  done(sabath, {"run", folder, "--seed", "1", "--tag", "a"});
  done(sabath, {"run", folder, "--seed", "1", "--set", "hidden=64", "--set", "lr=2", "--tag", "b"});
  check_complete(explained(sabath), {{"parameter hidden"}, {"parameter lr"}});
}

TEST_CASE("cli: explain names the code and the seed where each changes the loss") {
  const Sabath sabath;
  const auto write = [&](const std::string& factor) {
    return sabath.shell_recipe("coded", tell("$(({seed} + " + factor + "))"), keys({"decoy"}));
  };
  done(sabath, {"run", write("10"), "--seed", "1", "--tag", "a"});
  done(sabath, {"run", write("20"), "--seed", "2", "--set", "decoy=2", "--tag", "b"});
  check_complete(explained(sabath), {{"code"}, {"seed"}});
}

TEST_CASE("cli: explain finds what another change masks, and says what each needs") {
  const Sabath sabath;
  const std::vector<std::string> parameters{"order", "rate", "threads"};
  // `threads` matters only while `order` is 1, and `rate` in any case.
  const std::string folder = sabath.shell_recipe(
      "masked",
      tell("$(((2 - {param.order}) * {param.threads} + 8 * {param.rate} + {param.order}))"),
      keys(parameters));
  run_both(sabath, folder, parameters);
  const json found = explained(sabath);
  check_complete(found, {{"parameter threads"}, {"parameter rate"}});
  CHECK(found["hybrids"][1]["against_b"] == "PASS");  // all of B's
}

TEST_CASE("cli: explain within a budget names no cause before all sets are tried, and continues") {
  const Sabath sabath;
  const std::vector<std::string> parameters{"decoy", "order", "threads"};
  const std::string folder = sabath.shell_recipe(
      "budget", tell("$(({param.order} + 4 * {param.threads}))"), keys(parameters));
  run_both(sabath, folder, parameters);
  std::size_t left = 1000;
  for (int calls = 0; left > 0; ++calls) {
    REQUIRE(calls < 12);
    const std::string budget = calls == 0 ? "0" : "1";
    const json found = explained(sabath, {"--budget", budget});
    INFO(found.dump(1));
    const std::size_t now = found["untried"]["runs"].get<std::size_t>();
    CHECK((calls == 0 || now <= left));  // one that differs is made once more
    left = now;
    CHECK(found["status"] == (left == 0 ? 0 : 3));
    CHECK(found["complete"] == (left == 0));
    if (left == 0) continue;
    CHECK(found["cause"].empty());
    CHECK(found["necessary"].empty());
    CHECK(found["untried"]["seconds"].get<double>() > 0);
    CHECK(found["untried"]["smallest"].size() == found["untried"]["sets"].get<std::size_t>());
    const Answer text = sabath({"explain", "tag=a", "tag=b", "--budget", "0"});
    CHECK(text.status == 3);
    CHECK_THAT(
        text.output,
        Contains("to try ") && !Contains("alone") && !Contains("CAUSE") && !Contains("the cause"));
  }
}

TEST_CASE("cli: explain does not know what is necessary where a set that failed could change it") {
  const Sabath sabath;
  const std::vector<std::string> parameters{"order", "threads"};
  // `threads` without `order` fails, and `order` alone changes the loss.
  const std::string folder = sabath.shell_recipe(
      "failing",
      "[ {param.threads} -le {param.order} ] || exit 1; " + tell("{param.order}"),
      keys(parameters));
  run_both(sabath, folder, parameters);
  const json found = explained(sabath);
  check_complete(found, {{"parameter order"}});
  CHECK(found["failed"] == json::parse(R"([["parameter threads"]])"));
  CHECK_FALSE(found.contains("necessary"));
  CHECK(found["maybe_necessary"] == json{"parameter order"});
  const Answer text = sabath({"explain", "tag=a", "tag=b", "--budget", "0"});
  INFO(text.output + text.errors);
  CHECK(text.status == 0);
  CHECK_THAT(text.output,
             Contains("necessary   unknown, since A failed with parameter threads") &&
                 Contains("whether that is sufficient is unknown") &&
                 !Contains("no change is in every sufficient set"));
}

TEST_CASE("cli: explain knows what is necessary where no set that failed can change it") {
  const Sabath sabath;
  const std::vector<std::string> parameters{"order", "rate", "threads"};
  const std::string folder = sabath.shell_recipe(
      "apart",
      "[ {param.threads} -le $(({param.order} + {param.rate} - 1)) ] || exit 1; " +
          tell("$(({param.order} + 4 * {param.rate}))"),
      keys(parameters));
  run_both(sabath, folder, parameters);
  const json found = explained(sabath);
  check_complete(found, {{"parameter order"}, {"parameter rate"}});
  CHECK(found["failed"] == json::parse(R"([["parameter threads"]])"));
  CHECK(found["necessary"] == json::array());
  CHECK_FALSE(found.contains("maybe_necessary"));
}

TEST_CASE("cli: explain may be told that nothing masks anything, and says that it rests on that") {
  const Sabath sabath;
  const std::vector<std::string> parameters{"a", "b", "c", "d", "e", "f"};
  const std::string folder =
      sabath.shell_recipe("assumed", tell("$(({param.b} * {param.e}))"), keys(parameters));
  run_both(sabath, folder, parameters);
  const json found = explained(sabath, {"--assume-monotone"});
  check_complete(found, {{"parameter b"}, {"parameter e"}});
  CHECK(found["assumed"] == "monotone");
  CHECK_THAT(found["reason"].get<std::string>(), Contains("if no change masks another"));
  const json exact = explained(sabath, {"--budget", "0"});
  CHECK(exact["status"] == 3);
  CHECK(exact["assumed"] == "");
  CHECK(exact["untried"]["sets"].get<int>() > 0);
  CHECK_THAT(sabath({"explain", "tag=a", "tag=b", "--budget", "0"}).output,
             Contains("if no change masks another, these are all that are sufficient"));
}

TEST_CASE("cli: explain agrees with the truth table of random recipes") {
  std::mt19937 random(GENERATE(1, 2, 3, 4));
  const std::size_t count = 2 + random() % 3;
  const Losses losses = searchable_losses(count, random);
  std::vector<std::string> parameters;
  for (std::size_t change = 0; change < count; ++change)
    parameters.push_back("p" + std::to_string(change));
  const Sabath sabath;
  const std::string folder =
      sabath.shell_recipe("random", tell("$((" + losses.expression() + "))"), keys(parameters));
  run_both(sabath, folder, parameters);
  INFO(losses.expression());
  check_complete(explained(sabath, {"--budget", "100"}), truth_of(losses, count));
}
