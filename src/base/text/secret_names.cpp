#include "letters.hpp"

#include <sabath/base/text/redact.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace sabath::base {
namespace {

/// The words of a name in lower case, without numbers: of "HF_TOKEN", "x-auth-token", "apiKey2".
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  char before = 0;
  for (const char c : name) {
    const bool is_hump = is_upper(c) && is_lower(before);
    if ((!is_alnum(c) || is_hump) && !words.back().empty()) words.emplace_back();
    if (is_alnum(c)) words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    before = c;
  }
  for (std::string& word : words) {
    while (word.size() > 1 && is_digit(word.back()))
      word.pop_back();
  }
  std::erase_if(words, [](const std::string& w) { return w.empty() || is_digit(w.front()); });
  if (words.empty()) words.emplace_back();
  return words;
}

template <class Words>
bool is_one_of(std::string_view word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "db_pass", "SSHPASS": the owner distinguishes a password from a pass over the data and "bypass".
bool names_a_pass(std::string_view last, std::string_view before) {
  constexpr auto owners = std::to_array<std::string_view>(
      {"admin", "app",   "broker", "database", "db",    "ftp",   "git",  "http",  "imap",
       "key",   "ldap",  "login",  "mail",     "mysql", "my",    "pg",   "pgsql", "postgres",
       "proxy", "redis", "root",   "smtp",     "ssh",   "store", "sudo", "user"});
  constexpr std::string_view pass = "pass";
  if (last == pass) return is_one_of(before, owners);
  return last.ends_with(pass) && is_one_of(last.substr(0, last.size() - pass.size()), owners);
}

/// Other meanings are a word of text ("eos_token") and a message of a test ("FIRST_PASS").
bool may_name_a_password(std::string_view name) {
  const auto words = words_of(name);
  const bool is_variable = std::none_of(name.begin(), name.end(), is_lower);
  const bool is_cookie_or_pass =
      words.back() == "cookie" || (words.back() == "pass" && is_variable);
  return words.back().ends_with("token") || (is_cookie_or_pass && words.size() > 1);
}

}  // namespace

bool names_a_password(std::string_view name) {
  constexpr auto plain =
      std::to_array<std::string_view>({"secrets", "credential", "credentials", "jwt"});
  // Also without a separator: "PGPASSWORD", "CLIENTSECRET".
  constexpr auto ends = std::to_array<std::string_view>(
      {"secret", "password", "passwd", "passphrase", "apikey", "secretkey", "accesskey"});
  constexpr auto before_key = std::to_array<std::string_view>(
      {"api", "access", "secret", "private", "auth", "account", "encryption", "signing"});
  const auto words = words_of(name);
  const std::string_view last = words.back();
  const std::string_view before = words.size() > 1 ? words[words.size() - 2] : std::string_view();
  if (last == "pwd") return words.size() > 1;
  if (last == "key" && is_one_of(before, before_key)) return true;
  return is_one_of(last, plain) || names_a_pass(last, before) ||
         std::any_of(ends.begin(), ends.end(), [&](auto end) { return last.ends_with(end); });
}

bool names_a_secret(std::string_view name) {
  return may_name_a_password(name) || names_a_password(name);
}

}  // namespace sabath::base
