#pragma once

#include "fetched_source.hpp"
#include "patches.hpp"
#include "tools/toolchain.hpp"

#include <sabath/env/environment_layer.hpp>

#include <memory>

namespace sabath::env {

/// Code of the recipe or from elsewhere, built and installed into a prefix. Identified by the
/// source's bytes, the patches, the build system with its options, and the compilers of its
/// languages.
class SourceLayer final : public EnvironmentLayer {
 public:
  /// `user` is the user's whole environment: it says how hosts are reached.
  SourceLayer(base::ProcessRunner& processes, std::shared_ptr<Memo> memo, base::Environment user);

  spec::LayerKind kind() const override { return spec::LayerKind::source; }
  std::string_view description() const override { return "code that is built here"; }
  std::map<std::string, std::string> resolve(const LayerContext& context) override;
  bool has_prefix() const override { return true; }
  std::map<std::string, std::string> build(const LayerBuild& build) override;
  bool is_locked(const spec::LayerSpec& spec) const override;
  spec::PackageLayerLock lock(const LayerErrand& errand, const LockTarget& target) override;
  std::vector<PinnedFile> fetch(const LayerErrand& errand, const BringFiles& bring) override;
  void describe(const LayerContext& context, spec::BuiltLayer& built) override;

 private:
  std::string digest_of(const std::filesystem::path& source);
  void add_source_facts(const LayerContext& context, std::map<std::string, std::string>& facts);
  void copy_locked_source(const LayerBuild& build, const std::filesystem::path& to);
  /// Puts the code, patched, beneath the work folder and returns the folder that is built.
  std::filesystem::path prepare_source(const LayerBuild& build);
  std::map<std::string, std::string> check(const LayerBuild& build,
                                           const base::Environment& environment);

  base::ProcessRunner& processes_;
  std::shared_ptr<Memo> memo_;
  Toolchain toolchain_;
  base::Environment user_;
  FetchedSource fetched_;
};

}  // namespace sabath::env
