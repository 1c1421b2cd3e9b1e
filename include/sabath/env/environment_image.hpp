#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::env {

/// All files of a prefix as one, for file systems that are slow with many small files. Beside the
/// prefix, named by its digest: <attempt>/<sha256>.squashfs.
struct PrefixImage {
  std::string layer{};
  std::filesystem::path prefix{};
  std::filesystem::path path{};
  base::Digest digest{};
  std::uint64_t size_bytes = 0;
  std::uint64_t files = 0;           ///< of the prefix when it was built
  std::uint64_t unpacked_bytes = 0;  ///< as well
};

/// The images of the layers that have one.
std::vector<PrefixImage> images_of(const spec::BuiltEnvironment& environment);

/// Makes an image of each prefix that has none yet, with mksquashfs. Throws Error{environment}
/// where that is missing or fails, Error{storage|interrupted}.
std::vector<PrefixImage> pack_prefixes(const spec::BuiltEnvironment& environment,
                                       base::ProcessRunner& processes,
                                       base::Observer& observer,
                                       std::stop_token stop = {});

/// A copy of a prefix on this node's own disk.
struct LocalPrefix {
  std::filesystem::path prefix{};
  std::filesystem::path copy{};
};

/// Does this system let this user have the namespaces that local prefixes need?
bool may_enter();

/// Unpacks each image beneath `local` (empty: the temporary folder), in a folder that only this
/// user can write; what is there already, and whole, is taken. Throws Error{environment} where
/// unsquashfs is missing or fails, or somebody could have written an image who is not trusted,
/// Error{integrity} for an image that was changed,
/// Error{storage|interrupted}.
std::vector<LocalPrefix> unpack_images(const std::vector<PrefixImage>& images,
                                       const std::filesystem::path& local,
                                       base::ProcessRunner& processes,
                                       base::Observer& observer,
                                       std::stop_token stop = {},
                                       const base::Trust& trust = {});

/// Unpacks one image to where nothing is yet; nobody else can write the folder around it. Throws as
/// unpack_images, but does not ask whom the image is from.
void unpack_image(const PrefixImage& image,
                  const std::filesystem::path& copy,
                  base::ProcessRunner& processes,
                  std::stop_token stop = {});

/// The arguments with which `program` (this sabath) runs `argv` so that it sees the copies in the
/// places of their prefixes: "env enter". Without copies `argv` itself.
std::vector<std::string> see_local_prefixes(const std::filesystem::path& program,
                                            const std::vector<LocalPrefix>& prefixes,
                                            std::vector<std::string> argv);

/// Puts the copies in the places of their prefixes for this process and what it starts, in a mount
/// namespace (and, but for root, a user namespace) of its own. Only a process with one thread can.
/// Throws Error{environment} where the system does not allow it.
void enter_local_prefixes(const std::vector<LocalPrefix>& prefixes);

}  // namespace sabath::env
