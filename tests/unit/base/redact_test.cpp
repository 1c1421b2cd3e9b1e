#include <sabath/base/text/redact.hpp>

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
  const std::string head = GENERATE("ghp_",
                                    "gho_",
                                    "github_pat_",
                                    "glpat-",
                                    "hf_",
                                    "sk-",
                                    "xoxb-",
                                    "npm_",
                                    "dckr_pat_",
                                    "xapp-1-A0-",
                                    "https://hooks.slack.com/services/T0/B0/",
                                    "sk_live_",
                                    "GOCSPX-",
                                    "nvapi-",
                                    "glsa_",
                                    "sq0atp-");
  const std::string kept = head.starts_with("https://") ? "https://" : "";
  CHECK(redact(head + tail) == kept + "[redacted]");
  CHECK(redact("token=" + head + tail + ", " + head + tail + ".") ==
        "token=[redacted], " + kept + "[redacted].");
}

TEST_CASE("redact: keys whose letters are of one kind, and long ones") {
  const std::string upper = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE";
  CHECK(redact("AGE-SECRET-KEY-1" + upper) == "[redacted]");
  CHECK(redact("ATATT3xFfGF0" + upper + "abc-x=1234") == "[redacted]=1234");
  CHECK(redact("see hooks.slack.com/services/ and sk_live_mode") ==
        "see hooks.slack.com/services/ and sk_live_mode");
}

TEST_CASE("redact: a key that begins as a path does, and a password with brackets") {
  for (const std::string secret : {"/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                                   "/q8Zk3mWv1Yt0RbN7sLx2HcD5fGj9PaE4uTiKoMn",
                                   "/abc+DEF123456789xyz",
                                   "Hunter(2)Secret99"}) {
    CHECK(redact("password=" + secret + " x") == "password=[redacted] x");
  }
  for (const std::string text : {"password=/home/Ada/Project2/Secrets",
                                 "credentials=/Users/AdaLovelace/MyProject2/Keys",
                                 "api_key=get(config)[name].value",
                                 "token=tokens[0].text",
                                 "password=getpass.getpass(prompt)"}) {
    CHECK(redact(text) == text);
  }
}

TEST_CASE("redact: lines of a netrc file, a user with a password, a connection string") {
  CHECK(redact("machine h.example.org login ada password hunter22a\nmachine g") ==
        "machine h.example.org login ada password [redacted]\nmachine g");
  CHECK(redact("machine h\n  login ada\n  password hunter22a\n") ==
        "machine h\n  login ada\n  password [redacted]\n");
  CHECK(redact("curl -u ada:hunter22a https://h/") == "curl -u ada:[redacted] https://h/");
  CHECK(redact("--user ada:hunter22a") == "--user ada:[redacted]");
  CHECK(redact("password=hunter22;x=Secret99") == "password=[redacted]");
  CHECK(redact("password=Pa1;x=Secr3tPart9") == "password=[redacted]");
  CHECK(redact("AccountName=ada;AccountKey=q8Zk3mWv1Yt0+bN7sLx2==;EndpointSuffix=example.org") ==
        "AccountName=ada;AccountKey=[redacted];EndpointSuffix=example.org");
  CHECK(redact("Server=h;Uid=ada;Pwd=hunter22a;Database=d") ==
        "Server=h;Uid=ada;Pwd=[redacted];Database=d");
  CHECK(redact("User ID=ada;pass=hunter22a") == "User ID=ada;pass=[redacted]");
  for (const std::string text : {"PWD=work_directory",
                                 "cd x;pwd=work_directory;ls",
                                 "server=h;first_pass=work_directory",
                                 "please login and choose a password correctly, then go on",
                                 "docker run -u 1000:1000 image",
                                 "chown -u postgres:postgres",
                                 "sort -u file:name",
                                 "git push -u origin main"}) {
    CHECK(redact(text) == text);
  }
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
                                 "docker://python@sha256:0123",
                                 "n_pass=3",
                                 "bypass=enabled_always",
                                 "compass: north_by_northwest",
                                 "first_pass: completed",
                                 "PASS: test_of_things_12",
                                 "low_pass=butterworth",
                                 "policy=MlpPolicy",
                                 "&Policy=MlpPolicy",
                                 "Signature=serving_default",
                                 "Signature: (x: Tensor[float32, 128]) -> y",
                                 "a basic reproducibility-benchmark",
                                 "a Basic characterization",
                                 "cookie: chocolate chip",
                                 "cookie_policy=same-site-strict"}) {
    CAPTURE(text);
    CHECK(redact(text) == text);
  }
}

TEST_CASE("redact: names of passwords as programs and clusters have them") {
  const std::string name = GENERATE("PGPASSWORD",
                                    "MYSQL_PWD",
                                    "DB_PASS",
                                    "SSHPASS",
                                    "smtp_pass",
                                    "dbPass",
                                    "FTP_PASS_2",
                                    "RCLONE_PASS",
                                    "CLIENTSECRET",
                                    "OPENAIAPIKEY",
                                    "AWSSECRETKEY",
                                    "AUTHTOKEN",
                                    "SESSION_COOKIE");
  CHECK(base::names_a_secret(name));
  CHECK(redact("failed: " + name + "=hunter2secret9x, x") == "failed: " + name + "=[redacted], x");
  CHECK(redact(name + "=128") == name + "=128");
}

TEST_CASE("redact: signatures of URLs that CloudFront and S3 sign, and of AWS's header") {
  const std::string drawn = "AbC123deF456gHi789jKl012mN3o%3D";
  CHECK(redact("https://h/f?Expires=1&Signature=" + drawn + "&Key-Pair-Id=K1") ==
        "https://h/f?Expires=1&Signature=[redacted]&Key-Pair-Id=K1");
  CHECK(redact("https://h/f?Policy=" + drawn + "__&x=1") == "https://h/f?Policy=[redacted]&x=1");
  CHECK(redact("SignedHeaders=host, Signature=" + drawn) ==
        "SignedHeaders=host, Signature=[redacted]");
}

TEST_CASE("redact: cookies are masked to the end of their line") {
  CHECK(redact("> Cookie: sid=31d4d96e407aad42; csrf=u32t4o3tb3gg\n> Accept: x") ==
        "> Cookie: [redacted]\n> Accept: x");
  CHECK(redact("curl -H 'Cookie: sid=31d4d96e407aad42' -v") == "curl -H 'Cookie: [redacted]' -v");
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
  CHECK_FALSE(is_certain("https://benchmark-2024@host/"));
  CHECK_FALSE(is_certain("abfss://x8f7d6s5a4b3c2@account.example.org/"));
  CHECK(is_certain("https://x8f7d6s5a4b3c2@host/"));
  CHECK(is_certain("git+https://x8f7d6s5a4b3c2@host/"));
  CHECK(is_certain("Authorization: Bearer 3fK9s0dkfjs93kd0fks9dkfXX"));
  CHECK(is_certain("Authorization: Basic YWRhOmh1bnRlcjJzZWNyZXQ="));
  CHECK_FALSE(is_certain("Bearer your-own-token-goes-here"));
  CHECK(is_certain("Cookie: sid=31d4d96e407aad42"));
  CHECK(is_certain("DB_PASS=hunter2secret9x"));
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

TEST_CASE("redact: the time for a hostile text grows with its length alone", "[long]") {
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
                                    "Cookie: ",
                                    "login a password ",
                                    " password",
                                    "password=a;b",
                                    "password=a(",
                                    "-u ",
                                    "-u a:",
                                    "password=/",
                                    "Cookie: a=b",
                                    "Cookie: a=",
                                    "\"",
                                    "a",
                                    ":");
  std::string text;
  while (text.size() < std::size_t{512} << 10U)
    text += part;
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(redact(text).empty());
  // Were each byte looked at for each other one, it would take minutes.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}
