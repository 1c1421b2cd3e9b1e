#include "secret_json.hpp"

#include "document_json.hpp"

namespace sabath::spec {

void SecretForm::check(const Secret& secret, base::JsonReader& reader) {
  base::JsonReader command = reader.optional("command");
  if (command.is_array() && (secret.command.empty() || secret.command.front().empty())) {
    command.problem("names no program");
  }
  int kinds = 0;
  for (const char* key : {"bearer", "header", "user", "command"})
    kinds += reader.optional(key).exists() ? 1 : 0;
  if (kinds != 1) {
    reader.problem("wants exactly one of \"bearer\", \"header\", \"user\" and \"command\"");
  }
  if (reader.optional("user").exists() != reader.optional("password").exists()) {
    reader.problem("\"user\" and \"password\" go together");
  }
}

std::vector<Secret> parse_secrets(std::string_view text, const std::string& origin) {
  return parse_document_as<SecretsForm>(text, origin);
}

}  // namespace sabath::spec
