#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/env/prefix.hpp>

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::env {

/// Image with all files of a prefix, for file systems that are slow with many small files. Lies
/// beside the prefix as <attempt>/<sha256>.squashfs.
struct PrefixImage {
  std::string layer{};
  std::filesystem::path prefix{};
  std::filesystem::path path{};
  base::Digest digest{};
  std::uint64_t size_bytes = 0;
  std::uint64_t files = 0;           ///< of the prefix when it was built
  std::uint64_t unpacked_bytes = 0;  ///< the same
};

/// Returns the images of the layers that have one.
std::vector<PrefixImage> images_of(const spec::BuiltEnvironment& environment);

/// Makes the missing images of prefixes with mksquashfs. Throws Error{environment} where that is
/// missing or fails, Error{storage|interrupted}.
std::vector<PrefixImage> pack_prefixes(const spec::BuiltEnvironment& environment,
                                       base::ProcessRunner& processes,
                                       base::Observer& observer,
                                       std::stop_token stop = {});

/// Returns true where this user may make the namespaces that local prefixes need.
bool may_enter();

/// Unpacks each image beneath `local` (empty: the temporary folder), in a folder that only this
/// user can write. Reuses complete copies. Throws Error{environment} where unsquashfs is missing or
/// fails or an untrusted user could have written an image, Error{integrity} for a changed image,
/// Error{storage|interrupted}.
std::vector<LocalPrefix> unpack_images(const std::vector<PrefixImage>& images,
                                       const std::filesystem::path& local,
                                       base::ProcessRunner& processes,
                                       base::Observer& observer,
                                       std::stop_token stop = {},
                                       const base::Trust& trust = {});

/// Unpacks one image to a new path in a folder that nobody else can write. Throws as unpack_images,
/// but does not check who could write the image.
void unpack_image(const PrefixImage& image,
                  const std::filesystem::path& copy,
                  base::ProcessRunner& processes,
                  std::stop_token stop = {});

/// Returns the arguments with which `program` (this sabath) runs `argv` with the copies in place of
/// their prefixes: "env enter". Without copies `argv` itself.
std::vector<std::string> see_local_prefixes(const std::filesystem::path& program,
                                            const std::vector<LocalPrefix>& prefixes,
                                            std::vector<std::string> argv);

/// Mounts the copies over their prefixes for this process and its children, in a new mount
/// namespace (and, except for root, a user namespace). The process must have one thread. Throws
/// Error{environment} where the system does not allow it.
void enter_local_prefixes(const std::vector<LocalPrefix>& prefixes);

}  // namespace sabath::env
