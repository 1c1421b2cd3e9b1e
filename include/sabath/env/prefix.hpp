#pragma once

#include <sabath/base/trust.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::env {

/// Size of a prefix on disk.
struct PrefixSize {
  std::uint64_t files = 0;
  std::uint64_t disk_bytes = 0;

  bool operator==(const PrefixSize&) const = default;
};
PrefixSize measure_prefix(const std::filesystem::path& prefix);

/// A copy of a prefix on this node's own disk.
struct LocalPrefix {
  std::filesystem::path prefix{};
  std::filesystem::path copy{};
};

/// Returns which prefix was removed since its layer was ready, in words; nothing where all exist.
std::optional<std::string> why_removed(const spec::BuiltEnvironment& environment);
/// Throws Error{environment} with that and a hint.
void require_present(const spec::BuiltEnvironment& environment);

/// Checks that nobody else can write anything in a prefix, or in the copy used in its place, or
/// replace a folder above it. Call it right before each use. Throws Error{environment} that names
/// who can write what, or the prefix that is missing.
void check_trusted(const spec::BuiltEnvironment& environment,
                   const std::vector<LocalPrefix>& copies = {},
                   const base::Trust& trust = {});

/// Returns why nothing may be executed from `prefix`: who could write what in it or above it. Looks
/// at every file. Nothing where the prefix is safe.
std::optional<std::string> why_prefix_untrusted(const std::filesystem::path& prefix,
                                                const base::Trust& trust);

/// Throws Error{environment} with `reason` and a hint.
[[noreturn]] void refuse_untrusted(const std::string& reason, const std::string& layer_name);
/// Throws the same where `why_prefix_untrusted` has a reason.
void require_trusted(const std::filesystem::path& prefix,
                     const base::Trust& trust,
                     const std::string& layer_name);

}  // namespace sabath::env
