#include <sabath/base/redact.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace sabath;
using base::redact;

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
      GENERATE("ghp_", "gho_", "github_pat_", "glpat-", "hf_", "sk-", "xoxb-", "npm_", "dckr_pat_");
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
                                                          "xAKIA" + tail,
                                                          "AKIA" + tail,
                                                          "ASIA_PACIFIC_2020_TEMPERATURE",
                                                          "sk-learn-random-forest-v2-of-2020",
                                                          "hf_bert_base_uncased_finetuned_2"}) {
    CHECK(redact(text) == text);
  }
}

TEST_CASE("redact: what a name that speaks of a secret has is masked") {
  const std::string value = "Tr0ub4dor";
  CHECK(redact("password=" + value) == "password=[redacted]");
  CHECK(redact("db_password: '" + value + "', user: ada") ==
        "db_password: '[redacted]', user: ada");
  CHECK(redact(R"({"apiKey": ")" + value + R"("})") == R"({"apiKey": "[redacted]"})");
  CHECK(redact("login --password " + value + " -v") == "login --password [redacted] -v");
  CHECK(redact("Authorization: Bearer abcdefgh12345678ijkl") == "Authorization: Bearer [redacted]");
  CHECK(redact("https://host/f?X-Amz-Date=1&X-Amz-Signature=0123456789abcdef&x=1") ==
        "https://host/f?X-Amz-Date=1&X-Amz-Signature=[redacted]&x=1");
}

TEST_CASE("redact: a private key is masked to its end, or to that of a torn text") {
  const std::string dashes = "-----";
  const std::string begin = dashes + "BEGIN OPENSSH PRIVATE KEY" + dashes;
  const std::string end = dashes + "END OPENSSH PRIVATE KEY" + dashes;
  CHECK(redact("a\n" + begin + "\nb3Blbn\n" + end + "\nz") == "a\n[redacted]\nz");
  CHECK(redact("a\n" + begin + "\nb3Blbn") == "a\n[redacted]");
  CHECK(redact(dashes + "BEGIN CERTIFICATE" + dashes) == dashes + "BEGIN CERTIFICATE" + dashes);
}

TEST_CASE("redact: words of machine learning, references and digests are no secrets") {
  for (const std::string text : {"max_tokens=40961234",
                                 "tokenizer=bert-base-uncased",
                                 "password=$PASSWORD_OF_ADA",
                                 "--token {param.token_name}",
                                 "pad_token: <|endoftext|>",
                                 "token: sha256:0123456789abcdef",
                                 "password: no",
                                 "secret sauce",
                                 "cache_key=0123456789abcdef0123456789abcdef",
                                 "monkey=abcdefgh1",
                                 "keyboard: qwertyuiop",
                                 "password_file=/run/secrets/x",
                                 "git clone ssh://git@host.example.org/x.git",
                                 "commit 0123456789abcdef0123456789abcdef01234567",
                                 "GOOGLE_APPLICATION_CREDENTIALS=/run/secrets/gcp.json",
                                 "--credentials ./credentials.json",
                                 "connect(password=os.environ['DB_PW'])",
                                 "docker://python:3.12@sha256:0123",
                                 "docker://python@sha256:0123"}) {
    CAPTURE(text);
    CHECK(redact(text) == text);
  }
}

TEST_CASE("redact: what is masked already stays as it is") {
  const std::string once =
      redact("password=abcdefgh1 https://a:b@host/ ghp_0123456789abcdefghijkl");
  CHECK(redact(once) == once);
}

TEST_CASE("redact: only what is certain is no reason to doubt") {
  const auto is_certain = [](std::string_view text) {
    const auto found = base::find_secrets(text);
    REQUIRE(found.size() == 1);
    return found.front().is_certain;
  };
  CHECK(is_certain("password=abcdefgh1"));
  CHECK(is_certain("ghp_0123456789abcdefghijkl"));
  CHECK(is_certain("https://ada:pw@host/"));
  CHECK_FALSE(is_certain("https://ada@host/"));
  CHECK_FALSE(is_certain("eos_token=endoftext"));
  CHECK(is_certain("token=abcdefgh12345678"));
}

TEST_CASE("redact: names with a number, values with marks, and the end of a key alone") {
  CHECK(redact("GITHUB_TOKEN_1=abcdefgh") == "GITHUB_TOKEN_1=[redacted]");
  CHECK(redact("password2: abcdefgh") == "password2: [redacted]");
  CHECK(redact("password=P@ss,w0rd1234, user=ada") == "password=[redacted], user=ada");
  CHECK(redact("key AKIAIOSFODNN7EXAMPLE, next") == "key [redacted], next");
  CHECK(redact("b3Blbn\n-----END RSA " + std::string("PRIVATE KEY-----\nz")) == "[redacted]\nz");
}

TEST_CASE("redact: the time for a hostile text grows with its length alone") {
  const std::string part = GENERATE("token=",
                                    "token=$",
                                    "eyJ.",
                                    "eyJ",
                                    "-",
                                    "--token ",
                                    "-----BEGIN ",
                                    "PRIVATE KEY-----",
                                    "a://",
                                    "a://b@",
                                    "Bearer ",
                                    "\"",
                                    "a",
                                    ":");
  std::string text;
  while (text.size() < std::size_t{2} << 20U)
    text += part;
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(redact(text).empty());
  // Were each byte looked at for each other one, it would take an hour.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}
