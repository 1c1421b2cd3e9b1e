#pragma once

#include <sabath/base/beneath.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/env/prefix_image.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::execution {

/// As `folder_on_node`; warns where there is none.
std::optional<std::filesystem::path> expanded(const std::string& path,
                                              const base::Environment& environment,
                                              base::Observer& observer);

/// Returns the images of the environments that stages have outside of containers, each once.
std::vector<env::PrefixImage> images_used(const spec::RunPlan& plan);

/// Replaces a path where it stands for itself.
void see_instead(const std::filesystem::path& source,
                 const std::filesystem::path& copy,
                 std::string& text);
/// In the command and the variables of a stage.
void see_instead(const std::filesystem::path& source,
                 const std::filesystem::path& copy,
                 spec::PlannedStage& stage);

/// A directory of this process beneath `scratch`, removed with this. Directories of processes of
/// this node that are gone are removed first. Throws Error{storage}, also where others could
/// replace it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& scratch);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  base::Beneath beneath_;
  std::filesystem::path path_;
};

}  // namespace sabath::execution
