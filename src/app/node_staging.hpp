#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/env/environment_image.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::app {

/// A path of a site that may begin with a variable: "$TMPDIR/x", "${TMPDIR}/x". Nothing, and a
/// warning, where the variable is not set here, or what comes of it is no absolute path.
std::optional<std::filesystem::path> expanded(const std::string& path, base::Observer& observer);

/// A copy of a file or folder on the node's own disk, as long as this lives. There is one of each
/// content for all processes of the user on the node. Whoever uses it last removes it; what was
/// left by processes that were killed is removed by the next one that comes.
class StagedCopy {
 public:
  /// `key` names the content: the digits of its digest. Nothing where there is not room enough, the
  /// folder for copies is not this user's own, or copying fails, which is told: then the source is
  /// what there is. A copy is read-only. Throws Error{interrupted}.
  static std::optional<StagedCopy> make(const std::filesystem::path& folder,
                                        const std::string& key,
                                        const std::filesystem::path& source,
                                        base::Clock& clock,
                                        base::Observer& observer,
                                        const std::stop_token& stop);
  ~StagedCopy();
  StagedCopy(StagedCopy&& other) noexcept;
  StagedCopy& operator=(StagedCopy&&) = delete;
  StagedCopy(const StagedCopy&) = delete;
  StagedCopy& operator=(const StagedCopy&) = delete;

  std::filesystem::path path() const { return place_ / "data"; }

 private:
  explicit StagedCopy(std::filesystem::path place) : place_(std::move(place)) {}
  static std::optional<StagedCopy> try_make(const std::filesystem::path& folder,
                                            const std::string& key,
                                            const std::filesystem::path& source,
                                            base::Clock& clock,
                                            base::Observer& observer,
                                            const std::stop_token& stop);
  std::filesystem::path place_;
};

/// The images of the environments that stages have outside of containers, each once.
std::vector<env::PrefixImage> images_used(const spec::RunPlan& plan);

/// Lets the stages of a plan see `copy` where they would see `source`.
void see_instead(const std::filesystem::path& source,
                 const std::filesystem::path& copy,
                 spec::RunPlan& plan);

/// A folder of this process beneath `scratch`, removed with this. Those of processes of this node
/// that are gone are removed first. Throws Error{storage}.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& scratch);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sabath::app
