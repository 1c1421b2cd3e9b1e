#pragma once

#include "failure.hpp"
#include "tool_run.hpp"

#include <sabath/fetch/fetcher.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sabath::fetch {

/// Parts of a source's URL for a program's argument vector. User and host do not begin with '-',
/// and no part has control characters.
struct ToolUrl {
  std::string scheme{};
  std::string user{};
  std::string host{};  ///< without brackets
  std::string port{};  ///< empty where the URL has none
  std::string path{};  ///< decoded, with its first slash
  std::string query{};
  std::string plain{};      ///< without user and password, for programs
  std::string displayed{};  ///< without query and fragment either
  std::string password{};

  /// Returns "host:port" or "host", to which secrets are bound.
  std::string authority() const;
};

/// Returns a Failure where `url` is malformed, or unsafe for a program.
std::variant<ToolUrl, Failure> parse_tool_url(const std::string& url);

/// Percent-encodes a path for a URL; slashes stay.
std::string encoded_path(const std::string& path);

/// Fixed properties of a program.
struct ToolTraits {
  std::string name{};  ///< of the fetcher
  std::string program{};
  std::string package{};  ///< where the program comes from: "the package 'aria2'"
  std::string description{};
  std::vector<std::string> schemes{};
  bool takes_mirrors = false;
  /// `resumes`: the program continues a partial. `resume_is_safe`: it never mixes versions; without
  /// that a partial is continued only where a digest proves the result.
  bool resumes = false;
  bool resume_is_safe = false;
  bool has_journal = false;  ///< files beside the partial are kept also without a partial
  bool has_holes = false;    ///< it writes the file in several places at once
};

/// One file, or one tree, for the calls of a program.
struct ToolJob {
  base::Observer& observer;
  std::stop_token stop{};
  std::string task{};              ///< for progress
  std::vector<ToolUrl> urls{};     ///< never empty; several only with `takes_mirrors`
  std::filesystem::path output{};  ///< the file, or the folder of a tree
  bool is_tree = false;
  std::uint64_t partial_bytes = 0;  ///< of the partial that may be continued
  std::optional<std::uint64_t> size_bytes{};
  std::vector<base::Digest> digests{};
  Credentials credentials{};  ///< for the host of the first URL
  /// Of a tree: the complete result of `list`, where it was just called.
  std::optional<std::vector<ListedFile>> listed{};

  const ToolUrl& url() const { return urls.front(); }
};

/// A fetcher that calls a program once for each file, and verifies its result.
class FileTool : public Fetcher {
 public:
  FileTool(ToolTraits traits, const ToolContext& context);

  std::vector<std::string_view> schemes() const override;
  std::string_view name() const override { return traits_.name; }
  std::string_view description() const override { return traits_.description; }
  bool takes_mirrors() const override { return traits_.takes_mirrors; }
  Outcome fetch(const std::vector<std::string>& urls,
                const Request& request,
                base::PartialFile& to,
                base::Observer& observer,
                std::stop_token stop) override;

 protected:
  /// Returns the cause of a failed call; `failure_by_words` is enough for most programs.
  virtual Failure failure_of(const ToolEnd& end, const ToolJob& job) = 0;
  /// Downloads the file. Returns nothing on success.
  virtual std::optional<Failure> bring(const ToolJob& job) = 0;

  /// Notes that the partial is downloaded again.
  void drop_partial() { dropped_ = true; }
  /// Removes the file and the control files beside it.
  static void drop_output(const ToolJob& job);

  const ToolContext& context() const { return context_; }
  const ToolTraits& traits() const { return traits_; }
  /// Runs a call. Returns a Failure if it failed. Throws Error{interrupted|storage}.
  std::optional<Failure> run(const ToolCall& call, const ToolJob& job, ToolEnd* ended = nullptr);

 private:
  std::variant<ToolJob, Failure> job_for(const std::vector<std::string>& urls,
                                         const Request& request,
                                         base::PartialFile& to,
                                         base::Observer& observer,
                                         std::stop_token stop);

  bool dropped_ = false;
  ToolTraits traits_;
  ToolContext context_;
};

inline constexpr std::string_view moved_hint =
    "check the document's sources: the file may have moved";

/// Classifies a failed call by usual words in its output ("Connection refused", "No such file").
/// Its last words become the problem. Throws Error{storage} for a full disk of this machine.
Failure failure_by_words(const std::string& name, const ToolEnd& end);

/// Returns the secrets for a URL: its own user and password, else those bound to its host.
Credentials credentials_of(const ToolUrl& url, const ToolContext& context);
bool has_secrets(const Credentials& credentials);
/// Returns the secret headers ("Authorization: Bearer ..."), without user and password.
std::vector<std::string> secret_headers(const Credentials& credentials);

}  // namespace sabath::fetch
