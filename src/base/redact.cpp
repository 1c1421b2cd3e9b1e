#include <sabath/base/redact.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace sabath::base {
namespace {

constexpr std::size_t shortest_value = 8;

/// How a service's tokens begin, and how many characters of [A-Za-z0-9_-] follow at least.
struct TokenForm {
  std::string_view head;
  std::size_t least;
  std::string_view what;
};
constexpr std::array<TokenForm, 28> token_forms{{
    {"ghp_", 20, "a GitHub token"},
    {"gho_", 20, "a GitHub token"},
    {"ghu_", 20, "a GitHub token"},
    {"ghs_", 20, "a GitHub token"},
    {"ghr_", 20, "a GitHub token"},
    {"github_pat_", 20, "a GitHub token"},
    {"glpat-", 16, "a GitLab token"},
    {"gldt-", 16, "a GitLab token"},
    {"glrt-", 16, "a GitLab token"},
    {"glcbt-", 16, "a GitLab token"},
    {"hf_", 20, "a Hugging Face token"},
    {"sk-", 20, "an API key"},
    {"AKIA", 16, "an AWS access key"},
    {"ASIA", 16, "an AWS access key"},
    {"xoxa-", 16, "a Slack token"},
    {"xoxb-", 16, "a Slack token"},
    {"xoxp-", 16, "a Slack token"},
    {"xoxr-", 16, "a Slack token"},
    {"xoxs-", 16, "a Slack token"},
    {"pypi-AgE", 50, "a PyPI token"},
    {"npm_", 30, "an npm token"},
    {"AIza", 30, "a Google API key"},
    {"ya29.", 20, "a Google token"},
    {"dckr_pat_", 20, "a Docker token"},
    {"dop_v1_", 40, "a DigitalOcean token"},
    {"oauth2_", 40, "a token"},
    {"SG.", 40, "a SendGrid key"},
    {"eyJ", 40, "a JSON web token"},
}};

bool is_token_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

bool is_name_char(char c) {
  return is_token_char(c) || c == '.';
}

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

/// The words of a name in lower case: of "HF_TOKEN", "x-auth-token", "apiKey2".
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  char before = 0;
  for (const char c : name) {
    const bool is_letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    const bool is_hump = std::isupper(static_cast<unsigned char>(c)) != 0 &&
                         std::islower(static_cast<unsigned char>(before)) != 0;
    if ((!is_letter || is_hump) && !words.back().empty()) words.emplace_back();
    if (is_letter) words.back() += lower(c);
    before = c;
  }
  if (words.back().empty() && words.size() > 1) words.pop_back();
  return words;
}

template <std::size_t size>
bool is_one_of(std::string_view word, const std::array<std::string_view, size>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Where a password is the only sense that a name makes; a "token" is a word of text as well.
bool names_a_password(std::string_view name) {
  constexpr std::array<std::string_view, 10> plain{"secret",
                                                   "secrets",
                                                   "password",
                                                   "passwd",
                                                   "passphrase",
                                                   "credential",
                                                   "credentials",
                                                   "apikey",
                                                   "jwt",
                                                   "pwd"};
  constexpr std::array<std::string_view, 8> before_key{
      "api", "access", "secret", "private", "auth", "account", "encryption", "signing"};
  const auto words = words_of(name);
  if (is_one_of(words.back(), plain)) return words.back() != "pwd" || words.size() > 1;
  return words.back() == "key" && words.size() > 1 &&
         is_one_of(words[words.size() - 2], before_key);
}

/// A "token" may be a word of text ("eos_token"), unless it looks drawn.
bool is_certain(std::string_view name, std::string_view value) {
  const bool has_digit =
      std::any_of(value.begin(), value.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return names_a_password(name) || (has_digit && value.size() >= 16);
}

/// Without what an earlier find has taken already.
class Spans {
 public:
  void add(SecretSpan span) {
    const auto overlaps = [&](const SecretSpan& other) {
      return span.begin < other.begin + other.length && other.begin < span.begin + span.length;
    };
    if (span.length > 0 && std::none_of(spans_.begin(), spans_.end(), overlaps))
      spans_.push_back(span);
  }
  std::vector<SecretSpan> take() {
    std::sort(spans_.begin(), spans_.end(), [](const auto& a, const auto& b) {
      return a.begin < b.begin;
    });
    return std::move(spans_);
  }

 private:
  std::vector<SecretSpan> spans_{};
};

bool is_ssh(std::string_view text, std::size_t colon) {
  return colon >= 3 && text.substr(colon - 3, 3) == "ssh";
}

void find_urls(std::string_view text, Spans& spans) {
  for (std::size_t at = text.find("://"); at != std::string_view::npos;
       at = text.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    const std::size_t end = std::min(text.find_first_of("/?# \t\n\"'", begin), text.size());
    const std::size_t sign = text.substr(0, end).rfind('@');
    if (sign == std::string_view::npos || sign < begin) continue;
    const std::string_view user = text.substr(begin, sign - begin);
    if (user == redacted_mark) continue;
    const bool has_password = user.find(':') != std::string_view::npos;
    if (!has_password && is_ssh(text, at)) continue;  // "git@": part of the address
    spans.add({begin,
               user.size(),
               has_password ? "a URL with a password" : "a URL with a user",
               has_password});
  }
}

void find_tokens(std::string_view text, Spans& spans) {
  for (const TokenForm& form : token_forms) {
    for (std::size_t at = text.find(form.head); at != std::string_view::npos;
         at = text.find(form.head, at + 1)) {
      if (at > 0 && is_token_char(text[at - 1])) continue;
      std::size_t end = at + form.head.size();
      const bool has_dots = form.head == "eyJ" || form.head == "SG.";
      while (end < text.size() && (is_token_char(text[end]) || (has_dots && text[end] == '.')))
        ++end;
      if (end - at - form.head.size() >= form.least) spans.add({at, end - at, form.what});
    }
  }
}

/// "-----BEGIN OPENSSH PRIVATE KEY-----" to its end, or to the end of the text.
void find_private_keys(std::string_view text, Spans& spans) {
  constexpr std::string_view head = "-----BEGIN ";
  constexpr std::string_view tail = "PRIVATE KEY-----";
  for (std::size_t at = text.find(head); at != std::string_view::npos;
       at = text.find(head, at + 1)) {
    const std::size_t name = text.find(tail, at);
    if (name == std::string_view::npos || name - at > 40) continue;
    const std::size_t last = text.find(tail, name + tail.size());
    const std::size_t end = last == std::string_view::npos ? text.size() : last + tail.size();
    spans.add({at, end - at, "a private key"});
  }
}

std::size_t skip(std::string_view text, std::size_t at, std::string_view chars) {
  return std::min(text.find_first_not_of(chars, at), text.size());
}

/// The value that begins at `from`: in quotation marks to the next, else up to a blank or mark.
SecretSpan value_at(std::string_view text, std::size_t from) {
  if (from < text.size() && (text[from] == '"' || text[from] == '\'')) {
    const std::size_t end = text.find(text[from], from + 1);
    if (end != std::string_view::npos) return {from + 1, end - from - 1};
    ++from;
  }
  const std::size_t end = std::min(text.find_first_of(" \t\r\n\"'`,;&", from), text.size());
  return {from, end - from};
}

/// "password = x", "\"api_key\": \"x\"", "--token=x", "?X-Amz-Signature=x".
void find_assignments(std::string_view text, Spans& spans) {
  for (std::size_t at = text.find_first_of("=:"); at != std::string_view::npos;
       at = text.find_first_of("=:", at + 1)) {
    std::size_t end = at;
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '"' || text[end - 1] == '\''))
      --end;
    std::size_t begin = end;
    while (begin > 0 && is_name_char(text[begin - 1]))
      --begin;
    const std::string_view name = text.substr(begin, end - begin);
    const bool is_signature = name == "X-Amz-Signature" || name == "X-Goog-Signature" ||
                              name == "X-Amz-Security-Token" || name == "sig";
    if (!is_signature && !names_a_secret(name)) continue;
    SecretSpan value = value_at(text, skip(text, at + 1, " \t"));
    if (!can_be_secret(text.substr(value.begin, value.length))) continue;
    value.what = "the value of a name that speaks of a secret";
    value.is_certain = is_signature || is_certain(name, text.substr(value.begin, value.length));
    spans.add(value);
  }
}

/// "--password x", and "Authorization: Bearer x" (RFC 6750, RFC 7617).
void find_after_words(std::string_view text, Spans& spans) {
  for (const std::string_view word : {"Bearer ", "bearer ", "Basic "}) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
      SecretSpan value = value_at(text, at + word.size());
      if (value.length < 16 || !can_be_secret(text.substr(value.begin, value.length))) continue;
      value.what = "an Authorization header";
      value.is_certain = false;
      spans.add(value);
    }
  }
  for (std::size_t at = text.find("--"); at != std::string_view::npos;
       at = text.find("--", at + 2)) {
    std::size_t end = at + 2;
    while (end < text.size() && is_name_char(text[end]))
      ++end;
    if (end >= text.size() || text[end] != ' ') continue;
    const std::string_view name = text.substr(at + 2, end - at - 2);
    if (!names_a_secret(name)) continue;
    SecretSpan value = value_at(text, end + 1);
    const std::string_view shown = text.substr(value.begin, value.length);
    if (shown.starts_with('-') || !can_be_secret(shown)) continue;
    value.what = "the value of an option that speaks of a secret";
    value.is_certain = is_certain(name, shown);
    spans.add(value);
  }
}

}  // namespace

bool names_a_secret(std::string_view name) {
  return words_of(name).back() == "token" || names_a_password(name);
}

bool can_be_secret(std::string_view value) {
  if (value.size() < shortest_value || value == redacted_mark) return false;
  constexpr std::array<std::string_view, 8> references{
      "$", "{", "<", "***", "sha256:", "sha512:", "sha1:", "md5:"};
  const bool is_reference = std::any_of(
      references.begin(), references.end(), [&](auto head) { return value.starts_with(head); });
  const bool has_letter = std::any_of(value.begin(), value.end(), [](unsigned char c) {
    return std::isalpha(c) != 0 || c >= 0x80;
  });
  const bool has_blank =
      std::any_of(value.begin(), value.end(), [](unsigned char c) { return std::isspace(c) != 0; });
  return !is_reference && has_letter && !has_blank;
}

std::vector<SecretSpan> find_secrets(std::string_view text) {
  Spans spans;
  find_private_keys(text, spans);
  find_urls(text, spans);
  find_tokens(text, spans);
  find_assignments(text, spans);
  find_after_words(text, spans);
  return spans.take();
}

std::string redact(std::string_view text) {
  std::string result;
  std::size_t done = 0;
  for (const SecretSpan& span : find_secrets(text)) {
    result += text.substr(done, span.begin - done);
    result += redacted_mark;
    done = span.begin + span.length;
  }
  return result += text.substr(done);
}

}  // namespace sabath::base
