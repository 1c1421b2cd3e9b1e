#include <sabath/base/error.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/tuning_variables.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;

/// Beginnings of further variables of the libraries and runtimes that a run's result or time can
/// depend on.
constexpr auto prefixes = std::to_array<std::string_view>(
    {"ASAN_",    "BLIS_",    "CC",      "CFLAGS", "CRAY",          "CUBLAS_",   "CUDA_",
     "CUDNN_",   "CXX",      "FC",      "FFLAGS", "FI_",           "GOMP_",     "GOTO_",
     "GSL_RNG_", "HDF5_",    "HF_",     "HIP_",   "HSA_",          "HWLOC_",    "I_MPI_",
     "JAX_",     "KMP_",     "KOKKOS_", "LD_",    "MALLOC_",       "MKL_",      "MPICH_",
     "NCCL_",    "NUMEXPR_", "NVIDIA_", "OMPI_",  "OMP_",          "OPENBLAS_", "PYTHON",
     "PYTORCH_", "ROCR_",    "SLURM_",  "TORCH",  "TRANSFORMERS_", "UCX_",      "XLA_"});

constexpr std::size_t shortest_drawn = 12;

bool looks_drawn(std::string_view value) {
  const auto any = [&](int (*is)(int)) {
    return std::ranges::any_of(value, [&](unsigned char c) { return is(c) != 0; });
  };
  return value.size() >= shortest_drawn && any(std::isdigit) && any(std::isalpha) &&
         !any(std::isspace);
}

/// Not a key that happens to begin as paths do: one of 64 does.
bool is_path(const std::string& value) {
  if (!value.starts_with('/')) return false;
  if (!base::can_be_secret(value)) return true;
  std::error_code code;
  return fs::exists(value, code);
}

/// Of variables also what only ends in "key", or has such a word within, where the value looks like
/// it: "WANDB_KEY", "TOKEN_OF_ADA"; not MONITOR_KEY=val_loss.
bool is_secret_variable(std::string_view name, const std::string& value) {
  if (base::names_a_secret(name)) return true;
  if (!looks_drawn(value) || is_path(value)) return false;
  for (std::size_t end = name.find('_'); end != std::string_view::npos;
       end = name.find('_', end + 1)) {
    if (base::names_a_secret(name.substr(0, end))) return true;
  }
  return name.ends_with("_KEY") || name.ends_with("_key");
}

/// "recipe.json:12", or the recipe's name where it was not read from a file.
std::string place_of(const spec::Recipe& recipe, std::size_t at) {
  const auto lines =
      std::count(recipe.text.begin(), recipe.text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::string file = recipe.directory.empty() ? "recipe '" + recipe.name + "'"
                                                    : (recipe.directory / "recipe.json").string();
  return file + ":" + std::to_string(lines + 1);
}

constexpr const char* hint_of_recipes =
    "plans and records are read by others: give it in an environment variable, which the stages "
    "inherit and nothing records";
constexpr const char* hint_of_sites =
    "job scripts are read by others: let 'setup' read a file that only you can read ('. FILE')";

[[noreturn]] void throw_secret(const std::string& place,
                               std::string_view what,
                               const char* hint = hint_of_recipes) {
  throw base::Error(
      base::ErrorKind::usage, place + ": looks like a secret (" + std::string(what) + ")", hint);
}

void refuse_in(const std::string& text,
               const std::string& place,
               const char* hint = hint_of_recipes) {
  for (const base::SecretSpan& span : base::find_secrets(text)) {
    if (span.is_certain) throw_secret(place, span.what, hint);
  }
}

/// Also where an option and its value are two arguments.
void refuse_in_command(const std::string& stage, const std::vector<std::string>& argv) {
  for (std::size_t i = 0; i < argv.size(); ++i)
    refuse_in(i == 0 ? argv[i] : argv[i - 1] + " " + argv[i], "stage '" + stage + "'");
}

/// "postgres://ada:secret@host", "AccountKey=...;", "Bearer ...": of a URL the password alone too,
/// as a program that was given it may print it.
void add_secrets_within(const std::string& value, std::vector<std::string>& secrets) {
  for (const base::SecretSpan& span : base::find_secrets(value)) {
    if (!span.is_certain) continue;
    const std::string secret = value.substr(span.begin, span.length);
    secrets.push_back(secret);
    // "Password=x;Server=h": where the list begins with it, the span has all.
    secrets.push_back(secret.substr(0, secret.find(';')));
    const auto colon = secret.find(':');
    const bool is_of_url = value.compare(span.begin + span.length, 1, "@") == 0;
    if (!is_of_url || colon == std::string::npos) continue;
    secrets.push_back(secret.substr(colon + 1));
    // Short ones are nothing but where they stand.
    secrets.push_back("//" + secret + "@");
  }
}

}  // namespace

std::map<std::string, std::string> variables_that_matter(const base::Environment& environment) {
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : environment) {
    const bool matters =
        is_of_determinism(name) || is_of_surroundings(name) ||
        std::any_of(prefixes.begin(), prefixes.end(), [&name = name](std::string_view prefix) {
          return name.starts_with(prefix);
        });
    if (matters)
      kept[name] =
          is_secret_variable(name, value) ? std::string(base::redacted_mark) : base::redact(value);
  }
  return kept;
}

base::KnownSecrets known_secrets(const base::Environment& environment,
                                 const std::vector<std::string>& others) {
  std::vector<std::string> values = others;
  for (const auto& [name, value] : environment) {
    // A path, a number of a port are not what the name speaks of.
    if (is_secret_variable(name, value) && !is_path(value)) values.push_back(value);
    add_secrets_within(value, values);
  }
  return base::KnownSecrets(values);
}

void refuse_secrets(const std::vector<std::string>& texts, const std::string& place) {
  for (const std::string& text : texts)
    refuse_in(text, place);
}

void refuse_secrets(const spec::PlannedStage& stage) {
  refuse_in_command(stage.name, stage.argv);
  for (const auto& [name, value] : stage.environment)
    refuse_in(name + "=" + value, "stage '" + stage.name + "'");
  for (const auto& [name, text] : stage.files.value_or(std::map<std::string, std::string>{}))
    refuse_in(text, "file '" + name + "' of stage '" + stage.name + "'");
}

void refuse_secrets(const spec::Recipe& recipe, const spec::ParameterValues& values) {
  for (const base::SecretSpan& span : base::find_secrets(recipe.text)) {
    if (span.is_certain) throw_secret(place_of(recipe, span.begin), span.what);
  }
  for (const spec::Stage& stage : recipe.stages)
    refuse_in_command(stage.name, stage.run);
  for (const auto& [name, value] : values)
    refuse_in(name + "=" + spec::to_string(value), "parameter '" + name + "'");
}

void refuse_secrets(const spec::Site& site, const fs::path& file) {
  const auto refuse = [&](const std::string& text, const std::string& place) {
    refuse_in(text, file.string() + ":/" + place, hint_of_sites);
  };
  for (const auto& [name, value] : site.variables) {
    refuse(name + "=" + value, "variables/" + name);
    if (is_secret_variable(name, value) && base::can_be_secret(value)) {
      throw_secret(file.string() + ":/variables/" + name,
                   "the value of a name that speaks of a secret",
                   hint_of_sites);
    }
  }
  for (const auto& [name, value] : site.request)
    refuse(name + "=" + value, "request/" + name);
  for (std::size_t i = 0; i < site.setup.size(); ++i)
    refuse(site.setup[i], "setup/" + std::to_string(i));
  for (std::size_t i = 0; i < site.options.size(); ++i)
    refuse(site.options[i], "options/" + std::to_string(i));
  refuse(site.description, "description");
  refuse(site.prefix, "prefix");
}

}  // namespace sabath::home
