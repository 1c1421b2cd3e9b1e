#include <sabath/base/text/redact.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/home/tuning_variables.hpp>

#include <algorithm>
#include <array>

namespace sabath::home {
namespace {

/// Beginnings of the variables that choose among ways to compute.
constexpr auto switch_heads = std::to_array<std::string_view>({"ACCELERATE_",
                                                               "ACC_DEVICE_",
                                                               "ATEN_",
                                                               "BLIS_ARCH",
                                                               "CRAY_ACC_",
                                                               "CRAY_CPU_TARGET",
                                                               "CRAY_CUDA_",
                                                               "CRAY_MALLOPT",
                                                               "CRAY_OMP_",
                                                               "CUBLAS_",
                                                               "CUDA_LAUNCH_BLOCKING",
                                                               "CUDNN_",
                                                               "CUPY_",
                                                               "DNNL_",
                                                               "DS_",
                                                               "FI_PROVIDER",
                                                               "FLAGS_",
                                                               "FLEXIBLAS",
                                                               "FORT_CONVERT",
                                                               "F_UFMTENDIAN",
                                                               "GFORTRAN_CONVERT_UNIT",
                                                               "GLIBC_TUNABLES",
                                                               "GOMP_",
                                                               "GOTO_",
                                                               "GSL_RNG_TYPE",
                                                               "HF_",
                                                               "HIPBLAS_",
                                                               "JAX_",
                                                               "KERAS_",
                                                               "KMP_",
                                                               "MIOPEN_",
                                                               "MKL_",
                                                               "MV2_",
                                                               "NCCL_",
                                                               "NPY_",
                                                               "NUMBA_",
                                                               "NVIDIA_TF32_OVERRIDE",
                                                               "NVTE_",
                                                               "OMPI_MCA_",
                                                               "OMP_",
                                                               "ONEDNN_",
                                                               "OPENBLAS_",
                                                               "PETSC_OPTIONS",
                                                               "PMIX_MCA_",
                                                               "PRTE_MCA_",
                                                               "PYTORCH_",
                                                               "RCCL_",
                                                               "ROCBLAS_",
                                                               "ROMIO_HINTS",
                                                               "TF_",
                                                               "TORCHINDUCTOR_",
                                                               "TORCH_",
                                                               "TRANSFORMERS_",
                                                               "XLA_"});
/// Of Terraform, which has nothing to do with TensorFlow, and what MPI's launchers tell their own
/// processes anew each time.
constexpr auto no_switch_heads = std::to_array<std::string_view>({"HF_TOKEN",
                                                                  "OMPI_MCA_ess_",
                                                                  "OMPI_MCA_orte_",
                                                                  "PRTE_MCA_ess_",
                                                                  "TF_CLI_",
                                                                  "TF_INPUT",
                                                                  "TF_IN_AUTOMATION",
                                                                  "TF_LOG",
                                                                  "TF_TOKEN_",
                                                                  "TF_VAR_",
                                                                  "TF_WORKSPACE"});
/// Ends of names that say where something lies or what is logged, which changes no result.
constexpr std::array<std::string_view, 11> no_switch_tails{"_HOME",
                                                           "_PATH",
                                                           "_DIR",
                                                           "_FILE",
                                                           "_CACHE",
                                                           "_ENDPOINT",
                                                           "_LOG_LEVEL",
                                                           "_VERBOSE",
                                                           "_VERBOSITY",
                                                           "_DEBUG",
                                                           "_LOGS"};
constexpr auto thread_names = std::to_array<std::string_view>({"BLIS_NUM_THREADS",
                                                               "GOMAXPROCS",
                                                               "GOTO_NUM_THREADS",
                                                               "JULIA_NUM_THREADS",
                                                               "KOKKOS_NUM_THREADS",
                                                               "MKL_DOMAIN_NUM_THREADS",
                                                               "MKL_NUM_THREADS",
                                                               "NUMBA_NUM_THREADS",
                                                               "NUMEXPR_MAX_THREADS",
                                                               "NUMEXPR_NUM_THREADS",
                                                               "OMP_NUM_TEAMS",
                                                               "OMP_NUM_THREADS",
                                                               "OMP_THREAD_LIMIT",
                                                               "OPENBLAS_NUM_THREADS",
                                                               "POLARS_MAX_THREADS",
                                                               "RAYON_NUM_THREADS",
                                                               "TF_NUM_INTEROP_THREADS",
                                                               "TF_NUM_INTRAOP_THREADS",
                                                               "VECLIB_MAXIMUM_THREADS"});
/// Seeds that sabath sets for no stage by itself: a user's own reach it.
constexpr std::array<std::string_view, 2> inherited_seeds{"GSL_RNG_SEED", "PL_GLOBAL_SEED"};
/// What leads programs to other code or models, or says in which language and time zone they read
/// and write. PATH is none: the record has the programs themselves.
constexpr auto surroundings = std::to_array<std::string_view>({"CLASSPATH",
                                                               "HF_HOME",
                                                               "JAVA_TOOL_OPTIONS",
                                                               "JULIA_DEPOT_PATH",
                                                               "JULIA_LOAD_PATH",
                                                               "JULIA_PROJECT",
                                                               "LANG",
                                                               "LD_AUDIT",
                                                               "LD_LIBRARY_PATH",
                                                               "LD_PRELOAD",
                                                               "LUA_PATH",
                                                               "MATLABPATH",
                                                               "NODE_PATH",
                                                               "PERL5LIB",
                                                               "PERL5OPT",
                                                               "PYTHONHOME",
                                                               "PYTHONIOENCODING",
                                                               "PYTHONNOUSERSITE",
                                                               "PYTHONOPTIMIZE",
                                                               "PYTHONPATH",
                                                               "PYTHONSAFEPATH",
                                                               "PYTHONUSERBASE",
                                                               "PYTHONUTF8",
                                                               "RUBYLIB",
                                                               "R_LIBS",
                                                               "R_LIBS_SITE",
                                                               "R_LIBS_USER",
                                                               "TZ"});

constexpr std::array<std::string_view, 4> seed_names{
    "GSL_RNG_SEED", "PL_GLOBAL_SEED", "PYTHONHASHSEED", "SABATH_SEED"};

template <class List>
bool contains(const List& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

template <class List>
bool begins_with_one(std::string_view text, const List& heads) {
  return std::any_of(heads.begin(), heads.end(), [&](auto head) { return text.starts_with(head); });
}

}  // namespace

bool is_switch(std::string_view text) {
  if (text.find(' ') != std::string_view::npos) return false;  // "NAME in stage STAGE"
  return begins_with_one(text, switch_heads) && !begins_with_one(text, no_switch_heads) &&
         std::none_of(no_switch_tails.begin(), no_switch_tails.end(), [&](auto tail) {
           return text.ends_with(tail);
         });
}

bool is_thread_count(std::string_view variable) {
  return contains(thread_names, variable);
}

bool is_seed(std::string_view variable) {
  return contains(seed_names, variable);
}

bool is_of_determinism(std::string_view variable) {
  return contains(thread_names, variable) || contains(inherited_seeds, variable) ||
         is_switch(variable);
}

bool is_of_surroundings(std::string_view variable) {
  return contains(surroundings, variable) || variable.starts_with("LC_");
}

bool is_knob(std::string_view variable) {
  if (variable == "LANG" || (variable.starts_with("LC_") && variable != "LC_ALL")) return false;
  return is_of_determinism(variable) || is_of_surroundings(variable);
}

bool stays_of_session(std::string_view variable) {
  return variable == "LD_LIBRARY_PATH";
}

spec::Facet variables_facet(const spec::RunPlan& plan, const base::Environment& environment) {
  spec::Facet facet{"variables", {}};
  for (const spec::PlannedStage& stage : plan.stages) {
    const spec::BuiltEnvironment& own = plan.environment_of(stage);
    if (stage.not_due || env::container_of(own) != nullptr) continue;
    const base::Environment seen = env::run_variables(own, environment);
    for (const auto& [name, value] : environment) {
      if (!is_of_surroundings(name) || stage.environment.contains(name)) continue;
      // What a layer adds or sets in its place is of the environment, and lies elsewhere in each
      // home.
      const auto found = seen.find(name);
      if (found != seen.end() && found->second.find(value) != std::string::npos)
        facet.items[name] = base::redact(value);
    }
  }
  return facet;
}

}  // namespace sabath::home
