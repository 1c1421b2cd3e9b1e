#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/home/tuning_variables.hpp>

namespace sabath::home {

bool is_switch(std::string_view text) {
  // A blank stands in "NAME in stage STAGE".
  static const base::Form switches(
      "(?s)(ACCELERATE_|ACC_DEVICE_|ATEN_|BLIS_ARCH|CRAY_ACC_|CRAY_CPU_TARGET|CRAY_CUDA_|"
      "CRAY_MALLOPT|CRAY_OMP_|CUBLAS_|CUDA_LAUNCH_BLOCKING|CUDNN_|CUPY_|DNNL_|DS_|FI_PROVIDER|"
      "FLAGS_|FLEXIBLAS|FORT_CONVERT|F_UFMTENDIAN|GFORTRAN_CONVERT_UNIT|GLIBC_TUNABLES|GOMP_|"
      "GOTO_|GSL_RNG_TYPE|HF_|HIPBLAS_|JAX_|KERAS_|KMP_|MIOPEN_|MKL_|MV2_|NCCL_|NPY_|NUMBA_|"
      "NVIDIA_TF32_OVERRIDE|NVTE_|OMPI_MCA_|OMP_|ONEDNN_|OPENBLAS_|PETSC_OPTIONS|PMIX_MCA_|"
      "PRTE_MCA_|PYTORCH_|RCCL_|ROCBLAS_|ROMIO_HINTS|TF_|TORCHINDUCTOR_|TORCH_|TRANSFORMERS_|"
      "XLA_)[^ ]*");
  // Terraform's variables, what MPI's launchers tell their own processes anew each time, and names
  // that say where something lies or what is logged, which changes no result.
  static const base::Form others(
      "(?s)(HF_TOKEN|OMPI_MCA_ess_|OMPI_MCA_orte_|PRTE_MCA_ess_|TF_CLI_|TF_INPUT|"
      "TF_IN_AUTOMATION|TF_LOG|TF_TOKEN_|TF_VAR_|TF_WORKSPACE).*|"
      ".*(_HOME|_PATH|_DIR|_FILE|_CACHE|_ENDPOINT|_LOG_LEVEL|_VERBOSE|_VERBOSITY|_DEBUG|_LOGS)");
  return switches.matches(text) && !others.matches(text);
}

bool is_thread_count(std::string_view variable) {
  static const base::Form form(
      "BLIS_NUM_THREADS|GOMAXPROCS|GOTO_NUM_THREADS|JULIA_NUM_THREADS|KOKKOS_NUM_THREADS|"
      "MKL_DOMAIN_NUM_THREADS|MKL_NUM_THREADS|NUMBA_NUM_THREADS|NUMEXPR_MAX_THREADS|"
      "NUMEXPR_NUM_THREADS|OMP_NUM_TEAMS|OMP_NUM_THREADS|OMP_THREAD_LIMIT|OPENBLAS_NUM_THREADS|"
      "POLARS_MAX_THREADS|RAYON_NUM_THREADS|TF_NUM_INTEROP_THREADS|TF_NUM_INTRAOP_THREADS|"
      "VECLIB_MAXIMUM_THREADS");
  return form.matches(variable);
}

bool is_seed(std::string_view variable) {
  static const base::Form form("GSL_RNG_SEED|PL_GLOBAL_SEED|PYTHONHASHSEED|SABATH_SEED");
  return form.matches(variable);
}

bool is_of_determinism(std::string_view variable) {
  // Seeds that sabath sets for no stage by itself: a user's own reach it.
  static const base::Form inherited_seeds("GSL_RNG_SEED|PL_GLOBAL_SEED");
  return is_thread_count(variable) || inherited_seeds.matches(variable) || is_switch(variable);
}

bool is_of_surroundings(std::string_view variable) {
  // PATH is not among them: the record has the programs themselves.
  static const base::Form form(
      "(?s)CLASSPATH|HF_HOME|JAVA_TOOL_OPTIONS|JULIA_DEPOT_PATH|JULIA_LOAD_PATH|JULIA_PROJECT|"
      "LANG|LD_AUDIT|LD_LIBRARY_PATH|LD_PRELOAD|LUA_PATH|MATLABPATH|NODE_PATH|PERL5LIB|"
      "PERL5OPT|PYTHONHOME|PYTHONIOENCODING|PYTHONNOUSERSITE|PYTHONOPTIMIZE|PYTHONPATH|"
      "PYTHONSAFEPATH|PYTHONUSERBASE|PYTHONUTF8|RUBYLIB|R_LIBS|R_LIBS_SITE|R_LIBS_USER|TZ|LC_.*");
  return form.matches(variable);
}

bool is_tuning_variable(std::string_view variable) {
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
