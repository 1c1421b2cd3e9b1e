#include "checked_read.hpp"
#include "document_json.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/tool.hpp>

#include <algorithm>
#include <filesystem>

namespace sabath::spec {

namespace {

using base::JsonReader;

constexpr int largest_exit = 255;
/// Placeholders of secrets, which stand in "stdin" and "file" only.
const std::vector<std::string> secret_placeholders{"header", "password"};

std::vector<std::string> with_forms(const std::vector<std::string>& names) {
  std::vector<std::string> all = names;
  for (const std::string& name : names) {
    all.push_back("escaped." + name);
    all.push_back("encoded." + name);
  }
  return all;
}

template <Spelled E>
E tool_word(JsonReader reader) {
  return *parse_enum<E>(reader.one_of(enum_words<E>()));
}

std::string tool_pattern(JsonReader reader, int least_groups) {
  if (!reader.exists()) return {};
  std::string pattern = reader.string();
  if (const auto problem = base::Regex::problem_of(pattern)) {
    reader.problem("'" + pattern + "' is not a regular expression: " + *problem);
  } else if (base::Regex(pattern).group_count() < least_groups) {
    reader.problem("has no group for the value to find", "for example \"([0-9.]+)\"");
  }
  return pattern;
}

/// Reads the name of a placeholder, which is a condition.
std::string tool_condition(JsonReader reader) {
  if (!reader.exists()) return {};
  std::vector<std::string> names = command_placeholders();
  names.insert(names.end(), secret_placeholders.begin(), secret_placeholders.end());
  names.insert(names.end(), {"folder", "secrets"});
  return reader.one_of(names);
}

/// Reads one text. `may_hold_secrets`: others cannot read it.
std::string tool_template(const JsonReader& reader, bool may_hold_secrets) {
  std::string text = read_line(reader);
  std::vector<std::string> names = with_forms(command_placeholders());
  const std::vector<std::string> secrets = with_forms(secret_placeholders);
  names.insert(names.end(), secrets.begin(), secrets.end());
  check_template(text, {names, {}}, reader);
  for (const std::string& name : placeholders_of(text)) {
    const bool is_secret = std::find(secrets.begin(), secrets.end(), name) != secrets.end();
    if (is_secret && !may_hold_secrets) {
      reader.problem("'{" + name + "}' is a secret, and others can read command lines",
                     "put it into 'stdin' or 'file'");
    }
    if (name == "ssh_options" && text != "{ssh_options}") {
      reader.problem("'{ssh_options}' is several arguments, and stands alone");
    }
  }
  return text;
}

std::vector<ToolWords> tool_words(JsonReader reader, bool may_hold_secrets) {
  std::vector<ToolWords> words;
  for (JsonReader& item : reader.items()) {
    ToolWords& each = words.emplace_back();
    if (!item.is_object()) {
      each.texts.push_back(tool_template(item, may_hold_secrets));
      continue;
    }
    each.when = tool_condition(item.optional("when"));
    each.unless = tool_condition(item.optional("unless"));
    for (JsonReader& text : item.required("words").items())
      each.texts.push_back(tool_template(text, may_hold_secrets));
    item.finish();
  }
  return words;
}

std::vector<ToolWords> tool_command(const JsonReader& reader) {
  std::vector<ToolWords> words = tool_words(reader, false);
  if (!reader.is_array()) return words;
  const bool is_named = !words.empty() && words.front().when.empty() &&
                        words.front().unless.empty() && !words.front().texts.empty() &&
                        !words.front().texts.front().empty() &&
                        placeholders_of(words.front().texts.front()).empty();
  if (!is_named) reader.problem("names no program", "the first item is the program's name");
  return words;
}

std::vector<std::string> tool_protocols(JsonReader reader) {
  std::vector<std::string> protocols;
  read_by(ListRule<TextRule>{.item = url_scheme}, reader, protocols);
  if (reader.is_array() && protocols.empty()) reader.problem("names no protocol");
  return protocols;
}

std::map<std::string, std::string> tool_digests(JsonReader reader) {
  std::map<std::string, std::string> digests;
  for (auto& [algorithm, name] : reader.members()) {
    if (!base::digest_algorithm(algorithm)) {
      name.problem("unknown digest algorithm '" + algorithm + "'");
    }
    digests[algorithm] = read_line(name);
  }
  return digests;
}

std::vector<ToolRefusal> tool_refusals(JsonReader reader) {
  std::vector<ToolRefusal> refusals;
  for (JsonReader& item : reader.items()) {
    ToolRefusal& refusal = refusals.emplace_back();
    refusal.when = tool_condition(item.optional("when"));
    refusal.unless = tool_condition(item.optional("unless"));
    refusal.problem = read_line(item.required("problem"));
    refusal.hint = read_line(item.optional("hint"));
    item.finish();
    if (refusal.when.empty() && refusal.unless.empty()) {
      item.problem("has no condition", "write \"when\" or \"unless\"");
    }
  }
  return refusals;
}

std::vector<ToolFailure> tool_failures(JsonReader reader) {
  std::vector<ToolFailure> failures;
  for (JsonReader& item : reader.items()) {
    ToolFailure& failure = failures.emplace_back();
    JsonReader exits = item.optional("exit");
    for (JsonReader& exit : exits.is_array() ? exits.items() : std::vector{exits}) {
      if (!exit.exists()) continue;
      failure.exits.push_back(read_count(exit, 1, 1));
      if (failure.exits.back() > largest_exit) exit.problem("an exit status is at most 255");
    }
    failure.says = tool_pattern(item.optional("says"), 0);
    failure.kind = tool_word<ToolFailureKind>(item.required("means"));
    failure.problem = read_line(item.optional("problem"));
    failure.hint = read_line(item.optional("hint"));
    item.finish();
    if (failure.exits.empty() && failure.says.empty()) {
      item.problem("has no condition", "write \"exit\" or \"says\"");
    }
  }
  return failures;
}

std::map<ToolFailureKind, std::string> tool_hints(JsonReader reader) {
  std::map<ToolFailureKind, std::string> hints;
  const auto read = [&](const char* key, ToolFailureKind kind) {
    JsonReader hint = reader.optional(key);
    if (hint.exists()) hints[kind] = tool_template(hint, false);
  };
  read("access", ToolFailureKind::access);
  read("not_found", ToolFailureKind::not_found);
  reader.finish();
  return hints;
}

ToolVersion tool_version(JsonReader reader) {
  ToolVersion version;
  if (!reader.exists()) return version;
  version.command = reader.required("command").strings();
  if (version.command.empty()) reader.problem("'command' names no program");
  version.find = tool_pattern(reader.required("find"), 1);
  JsonReader least = reader.required("least");
  version.least = read_line(least);
  static const base::Form form("[0-9]+(\\.[0-9]+)*");
  if (least.is_string() && !form.matches(version.least)) {
    least.problem("'" + version.least + "' is not a version", "numbers with dots between: \"8.7\"");
  }
  reader.finish();
  return version;
}

bool has_placeholder(const ToolDescription& tool, const std::vector<std::string>& names) {
  for (const auto* all : {&tool.command, &tool.download, &tool.input}) {
    for (const ToolWords& words : *all) {
      for (const std::string& text : words.texts) {
        for (const std::string& name : placeholders_of(text)) {
          if (std::find(names.begin(), names.end(), name) != names.end()) return true;
        }
      }
    }
  }
  return false;
}

/// Checks what depends on several members.
void check_tool(const ToolDescription& tool, const JsonReader& root) {
  const auto demand = [&](const std::vector<std::string>& names, const std::string& problem) {
    if (!has_placeholder(tool, with_forms(names))) root.problem(problem);
  };
  demand({"output", "name"}, "'{output}' is missing: it says where the file must go");
  demand({"url", "urls", "path", "ssh_path"},
         "'{url}' or '{path}' is missing: it says which file is meant");
  if (tool.headers == ToolHeaders::file) {
    demand({"headers"}, "'headers' is \"file\", but no '{headers}' names that file");
  }
  if (tool.resume == ToolResume::version) {
    demand({"version"}, "'resume' is \"version\", but no '{version}' is sent");
    if (tool.headers != ToolHeaders::file) {
      root.problem("'resume' is \"version\": 'headers' must be \"file\", which holds the version");
    }
  }
}

std::string tool_name(const std::string& origin, const JsonReader& root) {
  std::string name = std::filesystem::path(origin).stem().string();
  if (!base::is_safe_name(name)) {
    root.problem("the file's name '" + name + "' is not the name of a fetcher",
                 "lower-case letters, digits, '.', '_' and '-', a letter or digit first");
  }
  return name;
}

}  // namespace

std::vector<std::string> command_placeholders() {
  return {"url",           "urls",
          "host",          "port",
          "user",          "login",
          "path",          "output",
          "output_folder", "name",
          "partial",       "size",
          "connections",   "all_connections",
          "ca_file",       "digest",
          "digest_name",   "version",
          "headers",       "file",
          "allowed",       "ssh_options",
          "ssh_host",      "ssh_path"};
}

ToolDescription parse_tool(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  JsonReader root = document.root();
  root.required("schema", schema_hint);
  ToolDescription tool;
  tool.name = tool_name(origin, root);
  tool.description = read_line(root.required("description"));
  tool.package = read_line(root.required("package"));
  tool.protocols = tool_protocols(root.required("protocols"));
  tool.command = tool_command(root.required("command"));
  tool.download = tool_words(root.optional("download"), false);
  tool.redirect = tool_words(root.optional("redirect"), false);
  tool.input = tool_words(root.optional("stdin"), true);
  tool.file = tool_words(root.optional("file"), true);
  tool.escape = read_line(root.optional("escape"));
  tool.mirrors = root.optional("mirrors").boolean();
  tool.holes = root.optional("holes").boolean();
  tool.connections = read_count(root.optional("connections"), 1, tool.connections);
  tool.most_connections = read_count(root.optional("most_connections"), 1, tool.most_connections);
  tool.resume = tool_word<ToolResume>(root.optional("resume"));
  tool.headers = tool_word<ToolHeaders>(root.optional("headers"));
  tool.digests = tool_digests(root.optional("digests"));
  tool.progress = tool_pattern(root.optional("progress"), 1);
  tool.refusals = tool_refusals(root.optional("refuse"));
  tool.failures = tool_failures(root.optional("failures"));
  tool.hints = tool_hints(root.optional("hints"));
  tool.version = tool_version(root.optional("version"));
  check_tool(tool, root);
  root.finish();
  document.finish();
  return tool;
}

}  // namespace sabath::spec
