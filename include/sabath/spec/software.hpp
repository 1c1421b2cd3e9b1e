#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// A shared library, or a program, that was mapped into a process of the run.
struct LoadedLibrary {
  std::string path{};  ///< as the process saw it
  std::uint64_t size_bytes = 0;
  base::Digest digest{};
  std::string build_id{};             ///< hexadecimal, from the ELF note; empty: it has none
  std::vector<std::string> stages{};  ///< that were seen with it

  bool operator==(const LoadedLibrary&) const = default;
};

/// How items of the facet `libraries` begin that are programs.
inline constexpr std::string_view program_item = "program.";

/// What really ran, apart from what the environment says is there.
struct Software {
  std::vector<LoadedLibrary> libraries{};         ///< sorted by path
  std::map<std::string, std::string> versions{};  ///< "blas" -> "OpenBLAS 0.3.21", "mpi" -> ...
  std::vector<std::string> notes{};               ///< what could not be seen, and why
  /// Name -> version of the packages of a Python that is of no layer; nothing: none ran, or an
  /// earlier sabath did not look. Several versions have "; " between.
  std::optional<std::map<std::string, std::string>> packages{};

  bool operator==(const Software&) const = default;
};

/// What decides whether runs of a program repeat: what was set for it, and what it reported.
struct Determinism {
  std::map<std::string, std::string> seeds{};     ///< by variable or library -> value
  std::map<std::string, std::string> switches{};  ///< that sabath set, and those it found set
  std::map<std::string, std::string> threads{};   ///< variable or library -> number
  std::optional<std::string> sample_order{};  ///< digest of the sample ids, as the code reported

  bool operator==(const Determinism&) const = default;
};

}  // namespace sabath::spec
