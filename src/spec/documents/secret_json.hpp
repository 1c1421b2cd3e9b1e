#pragma once

#include "checked_read.hpp"
#include "fields_json.hpp"

#include <sabath/spec/secret.hpp>

#include <string>
#include <utility>
#include <vector>

namespace sabath::spec {

/// Goes into a header or a tool's options: nothing in it may begin another line.
inline constexpr TextRule header_text{.pattern = "[^\\x00-\\x1f\\x7f]+",
                                      .problem = "must not contain control characters",
                                      .may_be_empty = false};

struct HeaderForm {
  using Value = std::pair<std::string, std::string>;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, Value> header) {
    constexpr TextRule token{.pattern = "[A-Za-z0-9!#$%&'*+.^_`|~-]+",  // RFC 9110, section 5.6.2
                             .problem = "is not the name of a header",
                             .presence = required};
    TextRule value = header_text;
    value.presence = required;
    io("name", header.first, token);
    io("value", header.second, value);
  }
};

struct SecretForm {
  using Value = Secret;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, Secret> secret) {
    constexpr TextRule host{.pattern =
                                "(\\*\\.)?[A-Za-z0-9]([A-Za-z0-9._-]*)(:[0-9]{1,5})?"
                                "|\\[[0-9A-Fa-f:.]+\\](:[0-9]{1,5})?",
                            .problem = "'%' is not a host",
                            .hint = "for example \"data.example.org\" or \"*.example.org\"",
                            .presence = required};
    io("host",
       secret.host,
       host,
       "data.example.org (any port), data.example.org:8443, or *.example.org (any host beneath)");
    io("bearer", secret.bearer, header_text, "a token (RFC 6750)");
    io("header", secret.header, PartRule<HeaderForm>{});
    io("user", secret.user, header_text);
    io("password", secret.password, header_text);
    io("command",
       secret.command,
       ListRule<TextRule>{.item = {.check = check_argument}, .distinct = false},
       "an argument vector that writes a bearer token to stdout");
  }
  static void check(const Secret& secret, base::JsonReader& reader);
};

/// credentials.json.
struct SecretsForm {
  using Value = std::vector<Secret>;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, Value> secrets) {
    io("credentials", secrets, PartsRule<SecretForm>{.presence = required});
  }
};

}  // namespace sabath::spec
