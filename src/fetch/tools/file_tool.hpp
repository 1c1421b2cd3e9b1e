#pragma once

#include "tool_run.hpp"
#include "tool_url.hpp"

#include <sabath/fetch/fetcher.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sabath::fetch {

/// What is settled about a program before anything is fetched.
struct ToolTraits {
  std::string name{};  ///< of the fetcher
  std::string program{};
  std::string package{};  ///< where the program comes from: "the package 'aria2'"
  std::string description{};
  std::vector<std::string> schemes{};
  bool takes_mirrors = false;
  /// Does the program go on with what an earlier call left, without mixing versions? Otherwise that
  /// is done only where a digest will prove the result, and never where `resumes` is false.
  bool resumes = false;
  bool resume_is_safe = false;
  bool has_journal = false;  ///< what lies beside the file counts also where there is none yet
  bool has_holes = false;    ///< what it left is written in several places at once
};

/// One file to be brought by one call of a program.
struct ToolJob {
  std::vector<ToolUrl> urls{};  ///< never empty; several only for those that take mirrors
  std::filesystem::path output{};
  std::uint64_t partial_bytes = 0;  ///< what is there already, and may be gone on with
  std::optional<std::uint64_t> size_bytes{};
  std::vector<base::Digest> digests{};
  Credentials credentials{};  ///< what the first URL's host may see

  const ToolUrl& url() const { return urls.front(); }
};

/// A fetcher that calls a program once for each file, and believes nothing of it.
class FileTool : public Fetcher {
 public:
  FileTool(ToolTraits traits, const ToolContext& context);

  std::vector<std::string_view> schemes() const override;
  std::string_view name() const override { return traits_.name; }
  std::string_view description() const override { return traits_.description; }
  bool takes_mirrors() const override { return traits_.takes_mirrors; }
  Outcome fetch(const std::vector<std::string>& urls,
                const Request& request,
                base::StagedFile& to,
                base::Observer& observer,
                std::stop_token stop) override;

 protected:
  /// The call that brings the file; a Failure where it must not, or cannot, be made.
  virtual std::variant<ToolCall, Failure> call_for(const ToolJob& job) = 0;
  /// Why a call that ended badly did; `failure_by_words` does for most.
  virtual Failure failure_of(const ToolEnd& end, const ToolJob& job) = 0;
  /// Brings the file; by one call unless a fetcher knows better. Nothing: it is there.
  virtual std::optional<Failure> bring(const ToolJob& job,
                                       const std::string& task,
                                       base::Observer& observer,
                                       const std::stop_token& stop);

  /// What was there is of no use and will be brought again.
  void drop_partial() { dropped_ = true; }

  const ToolContext& context() const { return context_; }
  const ToolTraits& traits() const { return traits_; }
  Failure missing_program() const;
  Failure silent_program() const;
  /// Runs a call; a Failure when it did not end well. Throws Error{interrupted|storage}.
  std::optional<Failure> run(const ToolCall& call,
                             const ToolJob& job,
                             const std::string& task,
                             base::Observer& observer,
                             const std::stop_token& stop,
                             ToolEnd* ended = nullptr);

 private:
  std::variant<ToolJob, Failure> job_for(const std::vector<std::string>& urls,
                                         const Request& request,
                                         base::StagedFile& to);

  bool dropped_ = false;
  ToolTraits traits_;
  ToolContext context_;
};

/// By the words that programs and systems use for what can happen ("Connection refused", "No such
/// file"), the program's last words being the problem. Throws Error{storage} when the words tell of
/// a full disk here.
Failure failure_by_words(const std::string& name, const ToolEnd& end);

/// Throws Error{storage} when a program says that the disk is full, or the quota reached.
void throw_if_disk_is_full(const std::string& name, const ToolEnd& end);

/// The secrets for a URL: its own user and password where it has them, else those bound to its
/// host.
Credentials credentials_of(const ToolUrl& url, const ToolContext& context);
bool has_secrets(const Credentials& credentials);
/// The headers that carry them ("Authorization: Bearer ..."); not user and password.
std::vector<std::string> secret_headers(const Credentials& credentials);

}  // namespace sabath::fetch
