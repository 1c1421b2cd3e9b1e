#include "tool_values.hpp"

#include "tool_run.hpp"

#include <sabath/spec/recipe.hpp>
#include <sabath/spec/scheduler.hpp>

#include <algorithm>

namespace sabath::fetch {

namespace {

std::string ssh_host(const ToolUrl& url) {
  const std::string host =
      url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  return url.user.empty() ? host : url.user + "@" + host;
}

bool names_header(const std::string& text) {
  const auto names = spec::placeholders_of(text);
  return std::ranges::any_of(names, [](const std::string& name) {
    return name == "header" || name == "escaped.header" || name == "encoded.header";
  });
}

}  // namespace

ToolValues::ToolValues(const spec::ToolDescription& tool,
                       const ToolJob& job,
                       const ToolContext& context)
    : escape_(tool.escape), ssh_options_(ssh_options(context)) {
  set_source(job.url(), job.credentials);
  std::string urls;
  for (const ToolUrl& url : job.urls) {
    urls += (urls.empty() ? "" : "\t") + url.plain;
    if (has_secrets(credentials_of(url, context))) set("secrets", "yes");
  }
  set("urls", urls);
  set("output", job.output.string());
  set("output_folder", job.output.parent_path().string());
  set("name", job.output.filename().string());
  if (job.partial_bytes > 0) set("partial", std::to_string(job.partial_bytes));
  if (job.size_bytes) set("size", std::to_string(*job.size_bytes));
  const int configured = context.options.configuration.connections_per_host;
  const int connections =
      configured == 0 ? tool.connections : std::min(configured, tool.most_connections);
  set("connections", std::to_string(connections));
  set("all_connections", std::to_string(connections * static_cast<int>(job.urls.size())));
  set("ca_file", context.options.ca_file);
  set("headers", job.output.string() + ".headers-new");
  for (const base::Digest& digest : job.digests) {
    const auto name = tool.digests.find(std::string(to_string(digest.algorithm)));
    if (name == tool.digests.end()) continue;
    set("digest", digest.hex);
    set("digest_name", name->second);
    break;
  }
}

void ToolValues::set_source(const ToolUrl& url, const Credentials& credentials) {
  add("url", url.plain);
  add("host", url.authority());
  add("path", url.path);
  add("user", url.user);
  set("port", url.port);
  set("folder", url.path.ends_with('/') ? "yes" : "");
  set("allowed", url.scheme == "http" ? "http,https" : url.scheme);
  set("ssh_host", ssh_host(url));
  // "/~/data" is beneath the home folder of the other side.
  set("ssh_path", url.path.starts_with("/~/") ? url.path.substr(3) : url.path);
  set("password", credentials.password);
  set("login", credentials.password.empty() ? "" : credentials.user);
  headers_ = secret_headers(credentials);
}

void ToolValues::add(const std::string& name, const std::string& value) {
  std::string escaped;
  for (const char c : value) {
    if (escape_.find(c) != std::string::npos) escaped += '\\';
    escaped += c;
  }
  values_[name] = value;
  values_["escaped." + name] = escaped;
  values_["encoded." + name] = encoded_path(value);
}

void ToolValues::set(const std::string& name, const std::string& value) {
  if (!value.empty()) return add(name, value);
  for (const char* prefix : {"", "escaped.", "encoded."})
    values_.erase(prefix + name);
}

bool ToolValues::has(const std::string& name) const {
  const auto found = values_.find(name);
  return found != values_.end() && !found->second.empty();
}

bool ToolValues::holds(const std::string& when, const std::string& unless) const {
  return (when.empty() || has(when)) && (unless.empty() || !has(unless));
}

std::optional<std::string> ToolValues::text(const std::string& pattern) const {
  auto texts = spec::filled({{pattern}}, values_);
  return texts.empty() ? std::nullopt : std::optional(std::move(texts.front()));
}

std::vector<std::string> ToolValues::arguments(const std::vector<spec::ToolWords>& words) const {
  std::vector<std::string> arguments;
  for (const spec::ToolWords& each : words) {
    if (!holds(each.when, each.unless)) continue;
    for (const std::string& pattern : each.texts) {
      if (pattern == "{ssh_options}") {
        arguments.insert(arguments.end(), ssh_options_.begin(), ssh_options_.end());
      } else if (auto argument = text(pattern)) {
        arguments.push_back(*std::move(argument));
      }
    }
  }
  return arguments;
}

std::string ToolValues::lines(const std::vector<spec::ToolWords>& words) const {
  std::string result;
  const auto add_line = [&](const std::string& pattern, const ToolValues& values) {
    if (const auto line = values.text(pattern)) result += *line + "\n";
  };
  for (const spec::ToolWords& each : words) {
    if (!holds(each.when, each.unless)) continue;
    for (const std::string& pattern : each.texts) {
      if (!names_header(pattern)) add_line(pattern, *this);
      for (const std::string& header :
           names_header(pattern) ? headers_ : std::vector<std::string>{}) {
        ToolValues with_header = *this;
        with_header.set("header", header);
        add_line(pattern, with_header);
      }
    }
  }
  return result;
}

}  // namespace sabath::fetch
