#include "pip_settings.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/regex.hpp>

#include <map>
#include <string_view>

namespace sabath::env {
namespace {

/// Settings that say how packages are reached. With locked digests none of them changes what is
/// installed.
bool is_about_reaching(const std::string& name) {
  static const base::Form form(
      "cert|client-cert|default-timeout|extra-index-url|find-links|index-url|no-index|proxy|"
      "retries|timeout|trusted-host");
  return form.matches(name);
}

/// Settings that concern only the terminal or where pip keeps copies.
bool is_harmless(const std::string& name) {
  static const base::Form form(
      "cache-dir|debug|disable-pip-version-check|log|no-cache-dir|no-color|no-input|progress-bar|"
      "quiet|root-user-action|verbose|no-warn-script-location");
  return form.matches(name);
}

/// Decodes Python's repr() of a string.
std::string unquoted(std::string_view text) {
  if (text.size() < 2) return {};
  text = text.substr(1, text.size() - 2);
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    ++i;
    plain += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
  }
  return plain;
}

/// Returns pip's precedence: variables over a command's section over [global].
int rank_of(std::string_view section) {
  if (section == ":env:") return 2;
  return section == "global" ? 0 : 1;
}

std::string variable_of(std::string_view name) {
  std::string variable = "PIP_";
  for (const char c : name)
    variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return variable;
}

}  // namespace

PipSettings parse_pip_settings(const std::string& text) {
  PipSettings settings;
  std::map<std::string, int> ranks;
  for (const std::string& line : base::split(text, '\n')) {
    const auto equals = line.find('=');
    const auto dot = line.find('.');
    if (equals == std::string::npos || dot == std::string::npos || dot > equals) continue;
    const int rank = rank_of(line.substr(0, dot));
    const std::string name = line.substr(dot + 1, equals - dot - 1);
    if (is_harmless(name)) continue;
    if (!is_about_reaching(name)) {
      settings.left_out.push_back(name);
      continue;
    }
    const auto before = ranks.find(name);
    if (before != ranks.end() && before->second > rank) continue;
    ranks[name] = rank;
    settings.variables[variable_of(name)] = unquoted(line.substr(equals + 1));
  }
  return settings;
}

base::Environment network_settings(const base::Environment& user) {
  static const base::Form passed_on(
      "(?:http|https|all|no)_proxy|(?:HTTP|HTTPS|ALL|NO)_PROXY|NETRC|SSL_CERT_FILE|SSL_CERT_DIR|"
      "REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE");
  base::Environment settings;
  for (const auto& variable : user) {
    if (passed_on.matches(variable.first)) settings.insert(variable);
  }
  const auto home = user.find("HOME");
  if (home != user.end()) settings.try_emplace("NETRC", home->second + "/.netrc");
  return settings;
}

PipSettings read_pip_settings(const std::vector<std::string>& pip,
                              const base::Environment& user,
                              base::ProcessRunner& processes) {
  base::Command command;
  command.argv = pip;
  command.argv.insert(command.argv.end(), {"config", "list"});
  command.working_directory = "/";
  command.environment = user;
  command.deadline = std::chrono::seconds(60);
  const base::ProcessResult result = processes.run(command);
  PipSettings settings = parse_pip_settings(result.ok() ? result.output : std::string());
  for (const auto& setting : network_settings(user))
    settings.variables.insert(setting);
  return settings;
}

}  // namespace sabath::env
