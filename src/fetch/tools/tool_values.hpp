#pragma once

#include "file_tool.hpp"

#include <sabath/spec/tool.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::fetch {

/// Values of the placeholders in a tool's document, for one file.
class ToolValues {
 public:
  ToolValues(const spec::ToolDescription& tool, const ToolJob& job, const ToolContext& context);

  /// An empty value removes the placeholder.
  void set(const std::string& name, const std::string& value);
  /// Replaces the URL and the secrets of its host, after a redirect.
  void set_source(const ToolUrl& url, const Credentials& credentials);
  bool has(const std::string& name) const;
  /// Is a condition of a document true? An empty name always holds.
  bool holds(const std::string& when, const std::string& unless) const;

  /// A text with its values; nothing where a placeholder has none.
  std::optional<std::string> text(const std::string& pattern) const;
  /// Arguments whose conditions hold and whose placeholders have values.
  std::vector<std::string> arguments(const std::vector<spec::ToolWords>& words) const;
  /// The same as lines. A line with "{header}" stands once for each secret header.
  std::string lines(const std::vector<spec::ToolWords>& words) const;

 private:
  void add(const std::string& name, const std::string& value);

  std::string escape_;
  std::map<std::string, std::string> values_{};
  std::vector<std::string> headers_{};
  std::vector<std::string> ssh_options_;
};

}  // namespace sabath::fetch
