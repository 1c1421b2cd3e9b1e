#include "support/temp_home.hpp"

#include <sabath/base/error.hpp>
#include <sabath/home/document_secrets.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <string>

using namespace sabath;
using Catch::Matchers::Contains;

TEST_CASE("redact: of the environment only what can matter is kept") {
  const base::Environment environment{{"OMP_NUM_THREADS", "4"},
                                      {"CUDA_VISIBLE_DEVICES", "0,1"},
                                      {"SLURM_JOB_ID", "7"},
                                      {"LD_PRELOAD", "libx.so"},
                                      {"PYTHONPATH", "https://u:p@example.org/x"},
                                      {"MY_OMP_THING", "1"},
                                      {"HOME", "/home/ada"},
                                      {"PASSWORD", "x"}};
  const std::map<std::string, std::string> expected{
      {"OMP_NUM_THREADS", "4"},
      {"CUDA_VISIBLE_DEVICES", "0,1"},
      {"SLURM_JOB_ID", "7"},
      {"LD_PRELOAD", "libx.so"},
      {"PYTHONPATH", "https://[redacted]@example.org/x"}};
  CHECK(home::variables_that_matter(environment) == expected);
}

TEST_CASE("redact: a variable whose name speaks of a secret is named without its value") {
  const std::string name = GENERATE("NVIDIA_API_KEY",
                                    "TF_secret",
                                    "JAX_Token",
                                    "PYTHON_PASSWORD",
                                    "MPICH_PASSWD",
                                    "XLA_CREDENTIALS",
                                    "SLURM_JWT");
  CHECK(home::variables_that_matter({{name, "plain"}}) ==
        std::map<std::string, std::string>{{name, "[redacted]"}});
}

TEST_CASE("redact: a recipe or a value that looks like a secret is refused, with its place") {
  const std::string token = "ghp_0123456789abcdefghijklmnop";
  const auto recipe_with = [](const std::string& argument) {
    return spec::parse_recipe(
        R"({"schema": 1, "name": "tiny", "stages": [
  {"name": "one", "run": ["true", )" +
            argument + "]}]}",
        "recipe.json");
  };
  const spec::Recipe plain = recipe_with(R"("--password", "{seed}")");
  CHECK_NOTHROW(home::refuse_secrets(plain, {{"max_tokens", std::int64_t{123456789}}}));
  CHECK_THROWS_WITH(home::refuse_secrets(plain, {{"key", token}}),
                    Contains("parameter 'key'") && Contains("a GitHub token") && !Contains(token));
  CHECK_THROWS_WITH(home::refuse_secrets(plain, {{"db_password", std::string("hunter22a")}}),
                    Contains("parameter 'db_password'") && !Contains("hunter22a"));
  CHECK_THROWS_WITH(home::refuse_secrets(recipe_with('"' + token + '"'), {}),
                    Contains("recipe 'tiny':2") && !Contains(token));
  CHECK_THROWS_WITH(home::refuse_secrets(recipe_with(R"("--password", "hunter22a")"), {}),
                    Contains("stage 'one'") && !Contains("hunter22a"));
  CHECK_THROWS_WITH(
      home::refuse_secrets(
          recipe_with(R"("-H", "Authorization: Bearer 3fK9s0dkfjs93kd0fks9dkfXX")"), {}),
      Contains("an Authorization header") && !Contains("3fK9"));
  CHECK_THROWS_WITH(
      home::refuse_secrets(plain, {{"url", std::string("https://x8f7d6s5a4b3c2@host/f")}}),
      Contains("parameter 'url'") && !Contains("x8f7"));
}

TEST_CASE("redact: a tag that is a secret is refused, since tags are written as they are") {
  CHECK_NOTHROW(home::refuse_secrets(std::vector<std::string>{"ci", "hf_bert_base", "run-2"}));
  CHECK_THROWS_WITH(
      home::refuse_secrets(std::vector<std::string>{"ci", "ghp_0123456789abcdefghijklmnop"}),
      Contains("--tag") && Contains("a GitHub token") && !Contains("ghp_"));
}

TEST_CASE("redact: what a command has for its placeholders is judged as well") {
  spec::PlannedStage stage;
  stage.name = "one";
  stage.argv = {"mysql", "--password", "{param.pw}"};
  CHECK_NOTHROW(home::refuse_secrets(stage));
  stage.argv.back() = "hunter22a";
  CHECK_THROWS_WITH(home::refuse_secrets(stage), Contains("stage 'one'") && !Contains("hunter22a"));
  stage.argv = {"true"};
  stage.environment = {{"DB_PASSWORD", "hunter22a"}};
  CHECK_THROWS_WITH(home::refuse_secrets(stage), Contains("stage 'one'") && !Contains("hunter22a"));
}

TEST_CASE("redact: of a document all texts are masked but what a run is repeated with") {
  const std::string token = "ghp_0123456789abcdefghijklmnop";
  const std::string digest(64, 'a');
  const nlohmann::ordered_json document = {
      {"message", "cannot use " + token},
      {"notes", {"a", "https://a:b@host/"}},
      {"parameters", {{"stop_token", "Observation"}}},
      {"collected", {{"parameters", {{"api_key", "hunter22abc"}}}}},
      {"facets",
       {{{"name", "parameters"}, {"items", {{"stop_token", "Observation"}}}},
        {{"name", "environment"},
         {"items", {{"layer.$WANDB_API_KEY", "0123456789abcdef"}, {"api.key", digest}}}}}},
      {"stages", {{{"argv", {"--x", token}}, {"log_tail", token}}}},
      {"cache_key", "0123456789abcdef"},
      {"count", 3},
      {"recipe_text", token}};
  nlohmann::ordered_json expected = document;
  expected["message"] = "cannot use [redacted]";
  expected["notes"][1] = "https://[redacted]@host/";
  expected["collected"]["parameters"]["api_key"] = "[redacted]";
  expected["facets"][1]["items"]["layer.$WANDB_API_KEY"] = "[redacted]";
  expected["stages"][0]["log_tail"] = "[redacted]";
  CHECK(home::redacted(document) == expected);
}

TEST_CASE(
    "redact: known are the values of variables that speak of secrets, whatever they look like") {
  const test::TempHome folder;
  const auto masks = [&](const std::string& name, const std::string& value) {
    base::write_file_atomically(folder / "log", "a " + value + " b");
    return home::known_secrets({{name, value}}, {}).mask_file(folder / "log") > 0;
  };
  CHECK(masks("DB_PASSWORD", "12345678"));
  CHECK(masks("GCP_CREDENTIALS", R"({"type": "service_account"})"));
  CHECK(masks("TOKEN_OF_ADA", "abc123def456"));
  CHECK(masks("WANDB_KEY", "abc123def456"));
  CHECK_FALSE(masks("MONITOR_KEY", "val_accuracy"));
  CHECK_FALSE(masks("TOKEN_TYPE", "validation"));
  CHECK_FALSE(masks("AWS_CREDENTIALS", "/home/ada/credentials"));
  CHECK_FALSE(masks("PASSWORD", "********"));
  CHECK(masks("AWS_SECRET_ACCESS_KEY", "/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"));
  const std::string there = (folder / "q8Zk3mWv1Yt0RbN7sLx2HcD5fGj9PaE4uTiKoMn").string();
  base::write_file_atomically(there, "");
  CHECK_FALSE(masks("AWS_SECRET_ACCESS_KEY", there));
}

TEST_CASE("redact: known are secrets within values of variables whatever their names are") {
  const test::TempHome folder;
  const auto masked =
      [&](const std::string& name, const std::string& value, const std::string& printed) {
        base::write_file_atomically(folder / "log", printed);
        home::known_secrets({{name, value}}, {}).mask_file(folder / "log");
        return base::read_file(folder / "log");
      };
  const std::string url = "postgres://ada:hunter2secret@db.example.org/x";
  CHECK(masked("DATABASE_URL", url, "to " + url) ==
        "to postgres:" + std::string(20, '*') + "db.example.org/x");
  for (const std::string connection : {"Server=db;Uid=ada;Pwd=hunter2secret",
                                       "Server=db;Pwd=hunter2secret;Uid=ada",
                                       "pwd=hunter2secret;Server=db",
                                       "Password=hunter2secret;Server=db"}) {
    CAPTURE(connection);
    CHECK(masked("CONNECTION", connection, "login hunter2secret.") == "login *************.");
  }
  CHECK(masked("https_proxy", url, "login hunter2secret.") == "login *************.");
  CHECK(masked("DATABASE_URL", "postgres://ada:pw@db/x", "postgres://ada:pw@db/x pw") ==
        "postgres:" + std::string(9, '*') + "db/x pw");
  CHECK(masked("AZURE_STORAGE_CONNECTION_STRING",
               "AccountName=ada;AccountKey=q8Zk3mWv1Yt0+bN7sLx2==;EndpointSuffix=x",
               "q8Zk3mWv1Yt0+bN7sLx2== ada") == std::string(22, '*') + " ada");
  CHECK(masked("AUTH_HEADER", "Bearer 3fK9s0dkfjs93kd0fks9dkfXX", "3fK9s0dkfjs93kd0fks9dkfXX") ==
        std::string(25, '*'));
  CHECK(masked("SETTINGS", "eos_token=endoftext https://ada-of-example@h/", "endoftext") ==
        "endoftext");
}
