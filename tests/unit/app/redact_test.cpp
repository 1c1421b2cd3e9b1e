#include "app/redact.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace sabath;
using app::redact;

TEST_CASE("redact: user and password of a URL are masked, the rest stays") {
  CHECK(redact("https://ada:s3cret@example.org/x?y=1#z") ==
        "https://[redacted]@example.org/x?y=1#z");
  CHECK(redact("ftp://ada@example.org") == "ftp://[redacted]@example.org");
  CHECK(redact("git+ssh://git:pw@example.org:22/x") == "git+ssh://[redacted]@example.org:22/x");
  CHECK(redact("https://a:p@ss@example.org/") == "https://[redacted]@example.org/");
  CHECK(redact("'http://a:b@x' and \"http://c:d@y\"") ==
        "'http://[redacted]@x' and \"http://[redacted]@y\"");
}

TEST_CASE("redact: what only looks like a password in a URL stays") {
  for (const std::string text : {"https://example.org/@ada/x",
                                 "https://example.org/?mail=ada@example.org",
                                 "https://example.org/#a@b",
                                 "see https://example.org or mail ada@example.org",
                                 "https://example.org:8080/",
                                 "://",
                                 "ada@example.org",
                                 ""}) {
    CHECK(redact(text) == text);
  }
}

TEST_CASE("redact: tokens of well-known forms are masked wherever they stand") {
  const std::string tail = "0123456789abcdefABCDEF0123456789abcdef";
  const std::string head =
      GENERATE("ghp_", "gho_", "github_pat_", "glpat-", "hf_", "sk-", "AKIA", "xoxb-");
  CHECK(redact(head + tail) == "[redacted]");
  CHECK(redact("token=" + head + tail + ", " + head + tail + ".") ==
        "token=[redacted], [redacted].");
}

TEST_CASE("redact: what only begins like a token, or holds one's beginning, stays") {
  const std::string tail = "0123456789abcdefABCDEF0123456789abcdef";
  for (const std::string& text : std::vector<std::string>{"hf_hub",
                                                          "AKIA",
                                                          "ghp_0123456789abcdefABC",
                                                          "task-" + tail,
                                                          "my_hf_" + tail,
                                                          "xAKIA" + tail}) {
    CHECK(redact(text) == text);
  }
}

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
  CHECK(app::variables_that_matter(environment) == expected);
}

TEST_CASE("redact: a variable whose name speaks of a secret is named without its value") {
  const std::string name = GENERATE("NVIDIA_API_KEY",
                                    "TF_secret",
                                    "JAX_Token",
                                    "PYTHON_PASSWORD",
                                    "MPICH_PASSWD",
                                    "XLA_CREDENTIALS",
                                    "SLURM_JWT");
  CHECK(app::variables_that_matter({{name, "plain"}}) ==
        std::map<std::string, std::string>{{name, "[redacted]"}});
}
