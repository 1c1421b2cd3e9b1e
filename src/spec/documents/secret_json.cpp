#include "checked_read.hpp"
#include "document_json.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/spec/secret.hpp>

#include <algorithm>

namespace sabath::spec {
namespace {

using base::JsonReader;

void check_host(const std::string& host, const JsonReader& reader) {
  static const base::Form form(
      R"((\*\.)?[A-Za-z0-9]([A-Za-z0-9._-]*)(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?)");
  if (form.matches(host)) return;
  reader.problem("'" + host + "' is not a host",
                 "for example \"data.example.org\" or \"*.example.org\"");
}

/// A text that goes into a header or a tool's options: nothing in it may begin another line.
std::string read_line(JsonReader reader) {
  if (!reader.exists()) return {};
  std::string text = reader.string();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    reader.problem("must not contain control characters");
    return {};
  }
  if (reader.is_string() && text.empty()) reader.problem("must not be empty");
  return text;
}

std::pair<std::string, std::string> read_header(JsonReader reader) {
  static const base::Form token("[A-Za-z0-9!#$%&'*+.^_`|~-]+");  // RFC 9110, section 5.6.2
  if (!reader.exists()) return {};
  JsonReader name = reader.required("name");
  std::pair<std::string, std::string> header{name.string(), read_line(reader.required("value"))};
  if (name.is_string() && !token.matches(header.first)) {
    name.problem("is not the name of a header");
  }
  reader.finish();
  return header;
}

std::vector<std::string> read_command(JsonReader reader) {
  if (!reader.exists()) return {};
  std::vector<std::string> command = reader.strings();
  if (reader.is_array() && (command.empty() || command.front().empty())) {
    reader.problem("names no program");
  }
  for (const JsonReader& item : reader.items())
    check_argument(item.is_string() ? JsonReader(item).string() : std::string(), item);
  return command;
}

Secret read_secret(JsonReader reader) {
  Secret secret;
  JsonReader host = reader.required("host");
  secret.host = host.string();
  if (host.is_string()) check_host(secret.host, host);
  secret.bearer = read_line(reader.optional("bearer"));
  secret.header = read_header(reader.optional("header"));
  secret.user = read_line(reader.optional("user"));
  secret.password = read_line(reader.optional("password"));
  secret.command = read_command(reader.optional("command"));
  int kinds = 0;
  for (const char* key : {"bearer", "header", "user", "command"})
    kinds += reader.optional(key).exists() ? 1 : 0;
  if (kinds != 1) {
    reader.problem("wants exactly one of \"bearer\", \"header\", \"user\" and \"command\"");
  }
  if (reader.optional("user").exists() != reader.optional("password").exists()) {
    reader.problem("\"user\" and \"password\" go together");
  }
  reader.finish();
  return secret;
}

}  // namespace

std::vector<Secret> parse_secrets(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  JsonReader root = document.root();
  root.required("schema");
  std::vector<Secret> secrets;
  for (const JsonReader& item : root.required("credentials").items())
    secrets.push_back(read_secret(item));
  root.finish();
  document.finish();
  return secrets;
}

}  // namespace sabath::spec
