#include "redact.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace sabath::app {
namespace {

constexpr std::string_view mask = "[redacted]";

/// Beginnings of variables of the libraries and runtimes that a run's result or time can depend on.
constexpr std::array<std::string_view, 38> prefixes{
    "ASAN_",    "BLIS_",  "CC",       "CFLAGS",  "CUBLAS_", "CUDA_", "CUDNN_",    "CXX",
    "FC",       "FFLAGS", "GOMP_",    "GOTO_",   "HDF5_",   "HIP_",  "HSA_",      "HWLOC_",
    "I_MPI_",   "JAX_",   "KMP_",     "LANG",    "LC_",     "LD_",   "MALLOC_",   "MKL_",
    "MPICH_",   "NCCL_",  "NUMEXPR_", "NVIDIA_", "OMPI_",   "OMP_",  "OPENBLAS_", "PYTHON",
    "PYTORCH_", "ROCR_",  "SLURM_",   "TF_",     "UCX_",    "XLA_"};

/// A token's beginning and how many characters of [A-Za-z0-9_-] must follow.
struct TokenForm {
  std::string_view head;
  std::size_t least;
};
constexpr std::array<TokenForm, 8> token_forms{{{"ghp_", 20},
                                                {"gho_", 20},
                                                {"github_pat_", 20},
                                                {"glpat-", 16},
                                                {"hf_", 20},
                                                {"sk-", 20},
                                                {"AKIA", 16},
                                                {"xoxb-", 16}}};

bool is_token_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return result;
}

bool names_a_secret(std::string_view name) {
  constexpr std::array<std::string_view, 7> words{
      "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "_KEY", "_JWT"};
  const std::string loud = upper(name);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return loud.find(word) != std::string::npos;
  });
}

void redact_urls(std::string& text) {
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    const std::size_t end = std::min(text.find_first_of("/?# \t\n\"'", begin), text.size());
    const std::size_t sign = text.rfind('@', end);
    if (sign == std::string::npos || sign < begin || sign >= end) continue;
    text.replace(begin, sign - begin, mask);
  }
}

void redact_tokens(std::string& text) {
  for (const TokenForm& form : token_forms) {
    for (std::size_t at = text.find(form.head); at != std::string::npos;
         at = text.find(form.head, at + 1)) {
      if (at > 0 && is_token_char(text[at - 1])) continue;
      std::size_t end = at + form.head.size();
      while (end < text.size() && is_token_char(text[end]))
        ++end;
      if (end - at - form.head.size() < form.least) continue;
      text.replace(at, end - at, mask);
    }
  }
}

}  // namespace

std::string redact(std::string_view text) {
  std::string result(text);
  redact_urls(result);
  redact_tokens(result);
  return result;
}

std::map<std::string, std::string> variables_that_matter(const base::Environment& environment) {
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : environment) {
    const bool matters =
        std::any_of(prefixes.begin(), prefixes.end(), [&name = name](std::string_view prefix) {
          return name.starts_with(prefix);
        });
    if (matters) kept[name] = names_a_secret(name) ? std::string(mask) : redact(value);
  }
  return kept;
}

}  // namespace sabath::app
