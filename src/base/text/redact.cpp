#include "letters.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/redact.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace sabath::base {
namespace {

constexpr std::size_t shortest_value = 8;

/// Longer ones are taken for several: a hostile text must not be read again and again.
constexpr std::size_t longest_value = 8192;

/// drawn: [A-Za-z0-9_-], with a digit; parts: alnum and '/', with a digit
enum class Letters { alnum, upper, drawn, parts };

/// How a service's tokens begin, and how many characters follow at least, and at most.
struct TokenForm {
  std::string_view head;
  std::size_t least;
  std::string_view what;
  Letters letters = Letters::alnum;
  std::size_t most = longest_value;
};
constexpr auto token_forms = std::to_array<TokenForm>({
    {"ghp_", 20, "a GitHub token"},
    {"gho_", 20, "a GitHub token"},
    {"ghu_", 20, "a GitHub token"},
    {"ghs_", 20, "a GitHub token"},
    {"ghr_", 20, "a GitHub token"},
    {"github_pat_", 20, "a GitHub token", Letters::drawn},
    {"glpat-", 16, "a GitLab token", Letters::drawn},
    {"gldt-", 16, "a GitLab token", Letters::drawn},
    {"glrt-", 16, "a GitLab token", Letters::drawn},
    {"glcbt-", 16, "a GitLab token", Letters::drawn},
    {"hf_", 30, "a Hugging Face token"},
    {"sk-", 20, "an API key", Letters::drawn},
    {"AKIA", 16, "an AWS access key", Letters::upper, 16},
    {"ASIA", 16, "an AWS access key", Letters::upper, 16},
    {"xoxa-", 16, "a Slack token", Letters::drawn},
    {"xoxb-", 16, "a Slack token", Letters::drawn},
    {"xoxp-", 16, "a Slack token", Letters::drawn},
    {"xoxr-", 16, "a Slack token", Letters::drawn},
    {"xoxs-", 16, "a Slack token", Letters::drawn},
    {"pypi-AgE", 50, "a PyPI token", Letters::drawn},
    {"npm_", 30, "an npm token"},
    {"AIza", 30, "a Google API key", Letters::drawn, 40},
    {"ya29.", 20, "a Google token", Letters::drawn},
    {"dckr_pat_", 20, "a Docker token", Letters::drawn},
    {"dop_v1_", 40, "a DigitalOcean token"},
    {"oauth2_", 40, "a token"},
    {"SG.", 40, "a SendGrid key", Letters::drawn},
    {"eyJ", 40, "a JSON web token", Letters::drawn},
    {"xapp-", 16, "a Slack token", Letters::drawn},
    {"hooks.slack.com/services/", 30, "a Slack webhook", Letters::parts},
    {"sk_live_", 20, "a Stripe key"},
    {"rk_live_", 20, "a Stripe key"},
    {"GOCSPX-", 20, "a Google secret", Letters::drawn},
    {"nvapi-", 30, "an NVIDIA API key", Letters::drawn},
    {"glsa_", 30, "a Grafana token", Letters::drawn},
    {"sq0atp-", 20, "a Square token", Letters::drawn},
    {"sq0csp-", 20, "a Square secret", Letters::drawn},
    {"AGE-SECRET-KEY-1", 50, "an age key", Letters::upper},
    {"ATATT3x", 50, "an Atlassian token", Letters::drawn},
});

bool is_token_char(char c) {
  return is_alnum(c) || c == '_' || c == '-';
}

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit);
}

/// Drawn, not thought of: "sk-proj-x7Qa..." and not "sk-learn-random-forest".
bool has_letters(std::string_view tail, Letters letters) {
  const auto all = [&](auto is) { return std::all_of(tail.begin(), tail.end(), is); };
  const auto any = [&](auto is) { return std::any_of(tail.begin(), tail.end(), is); };
  switch (letters) {
    case Letters::alnum:
      return all([](char c) { return is_token_char(c) && c != '_' && c != '-'; });
    case Letters::upper:
      return all([](char c) { return is_digit(c) || is_upper(c); });
    case Letters::drawn:
      return any(is_digit) && any(is_lower) && any(is_upper);
    case Letters::parts:
      return any(is_digit) &&
             all([](char c) { return c == '/' || (is_token_char(c) && c != '_' && c != '-'); });
  }
  return false;
}

bool is_name_char(char c) {
  return is_token_char(c) || c == '.';
}

/// A "token" may be a word of text ("eos_token"), unless it looks drawn.
bool is_certain(std::string_view name, std::string_view value) {
  return names_a_password(name) || (has_digit(value) && value.size() >= 16);
}

/// In order; those that overlap in one.
std::vector<SecretSpan> merged(std::vector<SecretSpan> spans) {
  std::sort(
      spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<SecretSpan> result;
  for (const SecretSpan& span : spans) {
    if (result.empty() || span.begin >= result.back().begin + result.back().length) {
      result.push_back(span);
      continue;
    }
    SecretSpan& last = result.back();
    last.length = std::max(last.begin + last.length, span.begin + span.length) - last.begin;
    if (span.is_certain && !last.is_certain) {
      last.is_certain = true;
      last.what = span.what;
    }
  }
  return result;
}

using Spans = std::vector<SecretSpan>;

bool is_ssh(std::string_view text, std::size_t colon) {
  return colon >= 3 && text.substr(colon - 3, 3) == "ssh";
}

/// "x8f7d6s5a4b3c2", and not "benchmark2024": letters and digits take turns. A name with a dot is
/// somebody's.
bool is_drawn_user(std::string_view user) {
  std::size_t turns = 0;
  for (std::size_t i = 1; i < user.size(); ++i)
    turns += is_digit(user[i]) != is_digit(user[i - 1]) ? 1 : 0;
  return user.size() >= 12 && turns >= 3 && user.find('.') == std::string_view::npos;
}

/// Of Azure's stores ("abfss://container@account") the user is a folder.
bool is_http(std::string_view text, std::size_t colon) {
  return text.substr(0, colon).ends_with("http") || text.substr(0, colon).ends_with("https");
}

void find_urls(std::string_view text, Spans& spans) {
  for (std::size_t at = text.find("://"); at != std::string_view::npos;
       at = text.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    const std::size_t end = std::min(text.find_first_of("/?# \t\n\"'", begin), text.size());
    const std::size_t sign = text.substr(begin, end - begin).rfind('@');
    if (sign == std::string_view::npos || sign == 0) continue;
    const std::string_view user = text.substr(begin, sign);
    // "docker://python:3.12@sha256:...": the name of an image.
    if (user == redacted_mark || text.substr(begin + sign + 1).starts_with("sha256:")) continue;
    const bool has_password = user.find(':') != std::string_view::npos;
    if (!has_password && is_ssh(text, at)) continue;  // "git@": part of the address
    spans.push_back({begin,
                     user.size(),
                     has_password ? "a URL with a password" : "a URL with a user",
                     has_password || (is_http(text, at) && is_drawn_user(user))});
  }
}

void find_tokens(std::string_view text, Spans& spans) {
  for (const TokenForm& form : token_forms) {
    const bool has_dots = form.head == "eyJ" || form.head == "SG.";
    const bool has_parts = form.letters == Letters::parts;
    std::size_t end = 0;
    for (std::size_t at = text.find(form.head); at != std::string_view::npos;
         at = text.find(form.head, end)) {
      const std::size_t begin = at + form.head.size();
      const std::size_t limit = std::min(text.size(), begin + longest_value);
      end = begin;
      if (at > 0 && is_token_char(text[at - 1])) continue;
      while (end < limit && (is_token_char(text[end]) || (has_dots && text[end] == '.') ||
                             (has_parts && text[end] == '/')))
        ++end;
      const std::string_view tail = text.substr(begin, end - begin);
      if (tail.size() >= form.least && tail.size() <= form.most && has_letters(tail, form.letters))
        spans.push_back({at, end - at, form.what});
    }
  }
}

/// "-----BEGIN OPENSSH PRIVATE KEY-----" to its end, or to the end of the text; and what stands
/// before the end of one that began before the text.
void find_private_keys(std::string_view text, Spans& spans) {
  constexpr std::string_view tail = "PRIVATE KEY-----";
  constexpr std::string_view begins = "-----BEGIN ";
  constexpr std::string_view ends = "-----END ";
  constexpr std::size_t longest_name = 32;
  std::optional<std::size_t> open = 0;
  bool began = false;
  for (std::size_t at = text.find(tail); at != std::string_view::npos;
       at = text.find(tail, at + tail.size())) {
    const std::size_t window = at < longest_name ? 0 : at - longest_name;
    const std::string_view before = text.substr(window, at - window);
    if (const auto head = before.rfind(begins); head != std::string_view::npos) {
      if (!began || !open) open = window + head;
      began = true;
    } else if (before.rfind(ends) != std::string_view::npos && open) {
      spans.push_back({*open, at + tail.size() - *open, "a private key"});
      open.reset();
    }
  }
  if (began && open) spans.push_back({*open, text.size() - *open, "a private key"});
}

std::size_t skip(std::string_view text, std::size_t at, std::string_view chars) {
  return std::min(text.find_first_not_of(chars, at), text.size());
}

/// "a;Name=b", as connection strings have it: where the next name begins.
std::size_t next_of_list(std::string_view text) {
  for (std::size_t at = text.find(';'); at != std::string_view::npos; at = text.find(';', at + 1)) {
    std::size_t end = at + 1;
    while (end < text.size() && is_name_char(text[end]))
      ++end;
    if (end > at + 1 && end < text.size() && text[end] == '=') return at;
  }
  return text.size();
}

/// The value that begins at `from`: in quotation marks to the next, else up to a blank.
SecretSpan value_at(std::string_view text, std::size_t from) {
  const std::string_view rest = text.substr(from, longest_value);
  if (!rest.empty() && (rest.front() == '"' || rest.front() == '\'')) {
    const std::size_t end = rest.find(rest.front(), 1);
    if (end != std::string_view::npos) return {from + 1, end - 1};
    return {from + 1, 0};
  }
  std::size_t end = std::min(rest.find_first_of(" \t\r\n\"'`&"), rest.size());
  // Only within such a list: a password may hold the like.
  const std::size_t before = text.substr(0, from).find_last_of(" \t\r\n\"'`;");
  const bool is_list = before != std::string_view::npos && text[before] == ';';
  const std::size_t next = next_of_list(rest.substr(0, end));
  if (is_list && next >= shortest_value) end = next;
  while (end > 0 && std::string_view(",;)]}").find(rest[end - 1]) != std::string_view::npos)
    --end;
  return {from, end};
}

/// What `Signature=` and `Policy=` have in URLs of CloudFront and S3, and in AWS's header; not
/// "Policy=MlpPolicy".
bool is_signature(std::string_view value) {
  constexpr std::size_t shortest = 24;
  return value.size() >= shortest && has_digit(value) &&
         value.find_first_of("()[]{}") == std::string_view::npos;
}

/// "Server=h;Uid=ada;Pwd=x": in a connection string these names have no other meaning.
bool is_of_connection(std::string_view text, std::size_t begin, std::string_view name) {
  constexpr std::size_t longest = 512;
  const std::string word = name.size() > 4 ? std::string() : lower_case(name);
  if (word != "pwd" && word != "pass" && word != "pw") return false;
  const std::size_t from = begin - std::min(begin, longest);
  const std::string around = lower_case(text.substr(from, begin - from + longest));
  constexpr std::array others{"uid=", "user id=", "user=", "server=", "host=", "data source="};
  return around.find(';') != std::string::npos &&
         std::any_of(others.begin(), others.end(), [&](const char* other) {
           return around.find(other) != std::string::npos;
         });
}

/// "password = x", "\"api_key\": \"x\"", "--token=x", "?X-Amz-Signature=x".
void find_assignments(std::string_view text, Spans& spans) {
  std::size_t from = 0;
  for (std::size_t at = text.find_first_of("=:"); at != std::string_view::npos;
       at = text.find_first_of("=:", from)) {
    std::size_t end = at;
    while (end > from && (text[end - 1] == ' ' || text[end - 1] == '"' || text[end - 1] == '\''))
      --end;
    std::size_t begin = end;
    while (begin > from && is_name_char(text[begin - 1]))
      --begin;
    from = at + 1;
    const std::string_view name = text.substr(begin, end - begin);
    const bool may_sign = name == "Signature" || name == "Policy";
    const bool is_known = name == "X-Amz-Signature" || name == "X-Goog-Signature" ||
                          name == "X-Amz-Security-Token" || name == "sig";
    const bool connects = is_of_connection(text, begin, name);
    if (!may_sign && !is_known && !connects && !names_a_secret(name)) continue;
    SecretSpan value = value_at(text, skip(text, at + 1, " \t"));
    const std::string_view shown = text.substr(value.begin, value.length);
    const bool signs = is_known || (may_sign && is_signature(shown));
    if (may_sign && !signs) continue;
    from = std::max(from, value.begin + value.length);
    if (!can_be_secret(shown)) continue;
    value.what = "the value of a name that speaks of a secret";
    value.is_certain = signs || connects || is_certain(name, shown);
    spans.push_back(value);
  }
}

/// "Bearer x" (RFC 6750) and "Basic x" (RFC 7617) of a header `Authorization`.
void find_authorizations(std::string_view text, Spans& spans) {
  // The characters of credentials: RFC 7235's token68, and of those base64's.
  constexpr std::string_view marks = "+/=-._~";
  for (const std::string_view word : {"Bearer ", "bearer ", "Basic ", "basic "}) {
    const bool is_basic = word.ends_with("asic ");
    const std::string_view allowed = marks.substr(0, is_basic ? 3 : marks.size());
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + word.size())) {
      SecretSpan value = value_at(text, at + word.size());
      const std::string_view shown = text.substr(value.begin, value.length);
      if (value.length < 16 || !can_be_secret(shown)) continue;
      const bool is_drawn =
          has_digit(shown) && std::all_of(shown.begin(), shown.end(), [&](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                   allowed.find(c) != std::string_view::npos;
          });
      if (is_basic && !is_drawn) continue;  // "a basic implementation-dependent ..."
      value.what = "an Authorization header";
      value.is_certain = is_drawn;
      spans.push_back(value);
    }
  }
}

/// "Cookie: a=b; c=d", to the end of the line or of what is quoted.
void find_cookies(std::string_view text, Spans& spans) {
  constexpr std::string_view word = "ookie: ";
  constexpr std::size_t longest_name = 256;
  std::size_t from = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, from)) {
    from = at + word.size();
    const std::string_view rest = text.substr(from, longest_value);
    const std::size_t sign = rest.substr(0, longest_name).find_first_of("= \r\n\"'");
    if (sign == std::string_view::npos || rest[sign] != '=') continue;
    const std::string_view all = rest.substr(0, rest.find_first_of("\r\n\"'"));
    const std::string_view first = all.substr(sign + 1, all.find(';') - sign - 1);
    if (can_be_secret(first))
      spans.push_back({from, all.size(), "a cookie", has_digit(first) && first.size() >= 16});
    from += all.size();
  }
}

/// "--password x".
void find_options(std::string_view text, Spans& spans) {
  std::size_t end = 0;
  for (std::size_t at = text.find("--"); at != std::string_view::npos; at = text.find("--", end)) {
    end = at + 2;
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
    spans.push_back(value);
  }
}

std::size_t before_blanks(std::string_view text, std::size_t end) {
  while (end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0)
    --end;
  return end;
}

/// "machine h login ada password x" (the file formats of ftp(1) and curl, on one line or several).
void find_netrc(std::string_view text, Spans& spans) {
  constexpr std::string_view word = "password";
  constexpr std::string_view login = "login";
  constexpr std::size_t longest_user = 256;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    const std::size_t after = at + word.size();
    const std::size_t from = skip(text, after, " \t\r\n");
    const std::size_t window = at < longest_user ? 0 : at - longest_user;
    const std::string_view before = text.substr(window, at - window);
    const std::size_t user_end = before_blanks(before, before.size());
    if (from == after || user_end == before.size()) continue;
    const std::size_t user = before.substr(0, user_end).find_last_of(" \t\r\n");
    if (user == std::string_view::npos) continue;
    const std::string_view head = before.substr(0, before_blanks(before, user));
    if (!head.ends_with(login)) continue;
    SecretSpan value = value_at(text, from);
    const std::string_view shown = text.substr(value.begin, value.length);
    if (!can_be_secret(shown)) continue;
    value.what = "a password of a netrc file";
    value.is_certain = head.find("machine") != std::string_view::npos || has_digit(shown);
    spans.push_back(value);
  }
}

/// "-u ada:x", as curl has it; not a user and a group.
void find_users(std::string_view text, Spans& spans) {
  for (const std::string_view option : {"-u ", "--user "}) {
    for (std::size_t at = text.find(option); at != std::string_view::npos;
         at = text.find(option, at + option.size())) {
      if (at > 0 && is_token_char(text[at - 1])) continue;
      SecretSpan value = value_at(text, at + option.size());
      const std::string_view both = text.substr(value.begin, value.length);
      const auto colon = both.find(':');
      if (colon == std::string_view::npos || colon == 0) continue;
      const std::string_view shown = both.substr(colon + 1);
      if (!can_be_secret(shown) || !has_digit(shown)) continue;
      spans.push_back({value.begin + colon + 1, shown.size(), "a password behind its user"});
    }
  }
}

/// "os.environ['X']", "get()"; not "Hunter(2)Secret": in no language stands a name right behind a
/// bracket.
bool is_code(std::string_view value) {
  std::size_t open = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '(' || value[i] == '[') ++open;
    if (value[i] != ')' && value[i] != ']') continue;
    const bool goes_on =
        i + 1 < value.size() && std::isalnum(static_cast<unsigned char>(value[i + 1])) != 0;
    if (open == 0 || !goes_on) return true;
    --open;
  }
  return open > 0;
}

enum class Kind { lower, upper, digit, other };

Kind kind_of(char c) {
  if (is_lower(c)) return Kind::lower;
  if (is_upper(c)) return Kind::upper;
  return is_digit(c) ? Kind::digit : Kind::other;
}

/// A key in base64 that begins with '/', and not "/home/ada/Project2": its kinds of letters take
/// turns, also within words.
bool is_drawn_path(std::string_view value) {
  constexpr std::size_t shortest = 16;
  constexpr std::size_t letters_to_a_turn = 6;
  const auto any = [&](auto is) { return std::any_of(value.begin(), value.end(), is); };
  const bool is_base64 = std::all_of(value.begin(), value.end(), [](char c) {
    return kind_of(c) != Kind::other || c == '/' || c == '+' || c == '=';
  });
  if (!is_base64 || value.size() < shortest || !any(is_digit) || !any(is_lower) || !any(is_upper))
    return false;
  std::size_t turns = 0;
  for (std::size_t i = 1; i < value.size(); ++i) {
    const Kind before = kind_of(value[i - 1]);
    const Kind now = kind_of(value[i]);
    const bool is_word =
        value[i - 1] == '/' || value[i] == '/' || (before == Kind::upper && now == Kind::lower);
    if (before != now && !is_word) ++turns;
  }
  return turns >= value.size() / letters_to_a_turn;
}

}  // namespace

bool can_be_secret(std::string_view value) {
  if (value.size() < shortest_value || value == redacted_mark) return false;
  constexpr std::array<std::string_view, 11> references{
      "$", "{", "<", "[", "./", "~", "***", "sha256:", "sha512:", "sha1:", "md5:"};
  if (value.starts_with('/') && !is_drawn_path(value)) return false;
  const bool is_reference = std::any_of(
      references.begin(), references.end(), [&](auto head) { return value.starts_with(head); });
  const bool has_letter = std::any_of(value.begin(), value.end(), [](unsigned char c) {
    return std::isalpha(c) != 0 || c >= 0x80;
  });
  const bool has_blank =
      std::any_of(value.begin(), value.end(), [](unsigned char c) { return std::isspace(c) != 0; });
  return !is_reference && has_letter && !has_blank && !is_code(value);
}

std::vector<SecretSpan> find_secrets(std::string_view text) {
  Spans spans;
  find_private_keys(text, spans);
  find_urls(text, spans);
  find_tokens(text, spans);
  find_assignments(text, spans);
  find_authorizations(text, spans);
  find_cookies(text, spans);
  find_options(text, spans);
  find_netrc(text, spans);
  find_users(text, spans);
  return merged(std::move(spans));
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
