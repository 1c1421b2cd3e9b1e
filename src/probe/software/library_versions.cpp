#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/probe/library_versions.hpp>
#include <sabath/probe/loaded_libraries.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// Larger than any text that these libraries write.
using Buffer = std::array<char, 16384>;

/// A library may share function names with one that sabath is linked with, such as another HDF5: it
/// must find its own first. Sanitizers do not support that.
#if defined(__SANITIZE_ADDRESS__)
constexpr int own_first = 0;
#else
constexpr int own_first = RTLD_DEEPBIND;
#endif

class Library {
 public:
  explicit Library(const fs::path& path)
      : path_(path), handle_(::dlopen(path.c_str(), RTLD_LAZY | own_first)) {
    if (handle_ != nullptr) return;
    const char* const why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread
    throw base::Error(base::ErrorKind::launch, why == nullptr ? "cannot be loaded" : why);
  }

  const fs::path& path() const { return path_; }
  void* symbol(const std::string& name) const { return ::dlsym(handle_, name.c_str()); }
  template <class Function>
  Function* function(const std::string& name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  fs::path path_;
  void* handle_;  ///< never closed: the process ends soon, and some libraries cannot be unloaded
};

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

std::string dotted(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return fmt::format("{}.{}.{}", a, b, c);
}
std::string cuda_number(std::uint64_t n) {  // 12040
  return fmt::format("{}.{}", n / 1000, n % 1000 / 10);
}
std::string cudnn_number(std::uint64_t n) {  // 8907, 90100
  return n < 90'000 ? dotted(n / 1000, n % 1000 / 100, n % 100)
                    : dotted(n / 10'000, n % 10'000 / 100, n % 100);
}
std::string nccl_number(std::uint64_t n) {  // nccl.h: NCCL_VERSION, 2708 and 21805
  return n < 10'000 ? dotted(n / 1000, n % 1000 / 100, n % 100)
                    : dotted(n / 10'000, n % 10'000 / 100, n % 100);
}
std::string hip_number(std::uint64_t n) {  // 60032830
  return dotted(n / 10'000'000, n / 100'000 % 100, n % 100'000);
}

using Ask = std::optional<std::string> (*)(const Library& library, const char* symbol);
using Decode = std::string (*)(std::uint64_t);

/// const char* f(void)
std::optional<std::string> text_call(const Library& library, const char* symbol) {
  const auto function = library.function<const char*()>(symbol);
  const char* const text = function == nullptr ? nullptr : function();
  if (text == nullptr) return std::nullopt;
  return first_line(text);
}

/// const char text[]
std::optional<std::string> text_data(const Library& library, const char* symbol) {
  const auto* const text = static_cast<const char*>(library.symbol(symbol));
  if (text == nullptr) return std::nullopt;
  return first_line(std::string_view(text, ::strnlen(text, Buffer().size())));
}

/// void f(char* text, int size), or with a size_t, which is passed alike
std::optional<std::string> text_buffer(const Library& library, const char* symbol) {
  const auto function = library.function<int(char*, std::size_t)>(symbol);
  if (function == nullptr) return std::nullopt;
  Buffer buffer{};
  function(buffer.data(), buffer.size() - 1);
  return first_line(buffer.data());
}

/// size_t f(void)
template <Decode decode>
std::optional<std::string> number_call(const Library& library, const char* symbol) {
  const auto function = library.function<std::size_t()>(symbol);
  if (function == nullptr) return std::nullopt;
  return decode(function());
}

/// status f(int* number): 0 is success
template <Decode decode>
std::optional<std::string> number_out(const Library& library, const char* symbol) {
  const auto function = library.function<int(int*)>(symbol);
  int number = 0;
  if (function == nullptr || function(&number) != 0 || number <= 0) return std::nullopt;
  return decode(static_cast<std::uint64_t>(number));
}

/// status f(libraryPropertyType, int* value): major, minor, patch are 0, 1, 2
std::optional<std::string> property(const Library& library, const char* symbol) {
  const auto function = library.function<int(int, int*)>(symbol);
  std::array<int, 3> parts{};
  for (int i = 0; i < 3; ++i) {
    if (function == nullptr || function(i, &parts.at(static_cast<std::size_t>(i))) != 0)
      return std::nullopt;
  }
  return fmt::format("{}", fmt::join(parts, "."));
}

/// status f(unsigned*, unsigned*, unsigned*)
std::optional<std::string> three_numbers(const Library& library, const char* symbol) {
  const auto function = library.function<int(unsigned*, unsigned*, unsigned*)>(symbol);
  std::array<unsigned, 3> parts{};
  if (function == nullptr || function(&parts[0], &parts[1], &parts[2]) < 0) return std::nullopt;
  return fmt::format("{}", fmt::join(parts, "."));
}

/// MPI_Get_library_version, which may be called before MPI_Init (MPI 3.1, 8.1.1). Open MPI:
/// "Open MPI v4.1.4, package: ..."; MPICH: "MPICH Version:\t4.0.2\nMPICH Release date: ...".
std::optional<std::string> mpi(const Library& library, const char* symbol) {
  const auto function = library.function<int(char*, int*)>(symbol);
  Buffer buffer{};
  int length = 0;
  if (function == nullptr || function(buffer.data(), &length) != 0) return std::nullopt;
  std::string text = first_line(buffer.data());
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text.substr(0, text.find(','));
}

/// The names that OpenBLAS's functions have in its builds: with 64-bit integers a suffix, in wheels
/// of NumPy and SciPy a prefix.
std::vector<std::string> openblas_names(const std::string& function) {
  std::vector<std::string> names;
  for (const char* head : {"", "scipy_"}) {
    for (const char* tail : {"", "64_", "_64", "64"})
      names.push_back(head + ("openblas_" + function) + tail);
  }
  return names;
}

template <class Function>
Function* openblas_function(const Library& library, const std::string& name) {
  for (const std::string& one : openblas_names(name)) {
    if (const auto function = library.function<Function>(one)) return function;
  }
  return nullptr;
}

/// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Haswell MAX_THREADS=64"
std::optional<std::string> openblas(const Library& library, const char*) {
  const auto config = openblas_function<const char*()>(library, "get_config");
  const auto core = openblas_function<const char*()>(library, "get_corename");
  if (config == nullptr && core == nullptr) return std::nullopt;
  std::string text = "OpenBLAS";
  const std::string words = config == nullptr ? "" : first_line(config());
  const auto version = words.find("OpenBLAS ");
  if (version != std::string::npos) {
    const std::string rest = words.substr(version + 9);
    text += " " + rest.substr(0, rest.find(' '));
  }
  return core == nullptr ? text : text + " (" + core() + ")";
}

/// mkl_cbwr.h and MKL's reference of mkl_cbwr_get_auto_branch.
std::optional<std::string> mkl(const Library& library, const char* symbol) {
  auto version = text_buffer(library, symbol);
  if (!version) return std::nullopt;
  constexpr std::array<std::string_view, 15> branches{"",
                                                      "",
                                                      "",
                                                      "COMPATIBLE",
                                                      "SSE2",
                                                      "SSE3",
                                                      "SSSE3",
                                                      "SSE4_1",
                                                      "SSE4_2",
                                                      "AVX",
                                                      "AVX2",
                                                      "AVX512_MIC",
                                                      "AVX512",
                                                      "AVX512_MIC_E1",
                                                      "AVX512_E1"};
  const auto branch = library.function<int()>("mkl_cbwr_get_auto_branch");
  const auto number = static_cast<std::size_t>(branch == nullptr ? 0 : branch());
  if (number >= branches.size() || branches.at(number).empty()) return version;
  return fmt::format("{} ({})", *version, branches.at(number));
}

std::optional<std::string> blis(const Library& library, const char* symbol) {
  auto version = text_call(library, symbol);
  const auto id = library.function<int()>("bli_arch_query_id");
  const auto name = library.function<const char*(int)>("bli_arch_string");
  if (!version || id == nullptr || name == nullptr) return version;
  return fmt::format("{} ({})", *version, name(id()));
}

/// OpenMP runtimes report no version; they have that of their compiler. Without it the file name is
/// used.
std::optional<std::string> compiled_by(const Library& library, const char* symbol) {
  if (library.symbol(symbol) == nullptr) return std::nullopt;
  const auto compilers = compilers_of(library.path());
  if (compilers.empty()) return library.path().filename().string();
  return fmt::format("{} of {}", library.path().filename().string(), compilers.back());
}

/// int f(void)
std::optional<std::string> thread_count(const Library& library, const char* symbol) {
  auto function = library.function<int()>(symbol);
  if (std::string_view(symbol) == "openblas")
    function = openblas_function<int()>(library, "get_num_threads");
  const int number = function == nullptr ? 0 : function();
  if (number <= 0) return std::nullopt;
  return std::to_string(number);
}

struct Question {
  std::string_view library{};  ///< beginning of the file name
  std::string_view key{};
  std::string_view label{};  ///< text before the answer
  Ask ask = nullptr;
  const char* symbol = nullptr;
  bool is_threads = false;
};

/// All libraries and questions.
constexpr Question questions[] = {
    {"libopenblas", "blas", "", openblas, ""},
    {"libscipy_openblas", "blas", "", openblas, ""},
    {"libblas.so", "blas", "", openblas, ""},
    {"libcblas.so", "blas", "", openblas, ""},
    {"liblapack.so", "blas", "", openblas, ""},
    {"libmkl_rt.", "blas", "", mkl, "MKL_Get_Version_String"},
    {"libmkl_core.", "blas", "", mkl, "MKL_Get_Version_String"},
    {"libblis", "blas", "BLIS ", blis, "bli_info_get_version_str"},
    {"libmpi.", "mpi", "", mpi, "MPI_Get_library_version"},
    {"libmpich", "mpi", "", mpi, "MPI_Get_library_version"},
    {"libcudart", "cuda", "", number_out<cuda_number>, "cudaRuntimeGetVersion"},
    {"libcuda.", "cuda_driver", "", number_out<cuda_number>, "cuDriverGetVersion"},
    {"libcudnn.", "cudnn", "", number_call<cudnn_number>, "cudnnGetVersion"},
    {"libcublas.", "cublas", "", property, "cublasGetProperty"},
    {"libcufft.", "cufft", "", property, "cufftGetProperty"},
    {"libnccl.", "nccl", "", number_out<nccl_number>, "ncclGetVersion"},
    {"librccl.", "rccl", "", number_out<nccl_number>, "ncclGetVersion"},
    {"libamdhip64.", "rocm", "HIP ", number_out<hip_number>, "hipRuntimeGetVersion"},
    {"librocblas.", "rocblas", "", text_buffer, "rocblas_get_version_string"},
    {"libhdf5", "hdf5", "", three_numbers, "H5get_libversion"},
    {"libnetcdf.", "netcdf", "", text_call, "nc_inq_libvers"},
    {"libfftw3.", "fftw", "", text_data, "fftw_version"},
    {"libfftw3f.", "fftw", "", text_data, "fftwf_version"},
    {"libgomp", "openmp", "", compiled_by, "omp_get_max_threads"},
    {"libomp", "openmp", "", compiled_by, "omp_get_max_threads"},
    {"libiomp5", "openmp", "", compiled_by, "omp_get_max_threads"},
    {"libtbb.", "tbb", "", text_call, "TBB_runtime_version"},
    {"libopenblas", "openblas", "", thread_count, "openblas", true},
    {"libscipy_openblas", "openblas", "", thread_count, "openblas", true},
    {"libmkl_rt.", "mkl", "", thread_count, "MKL_Get_Max_Threads", true},
    {"libgomp", "openmp", "", thread_count, "omp_get_max_threads", true},
    {"libomp", "openmp", "", thread_count, "omp_get_max_threads", true},
    {"libiomp5", "openmp", "", thread_count, "omp_get_max_threads", true},
};

constexpr std::string_view version_mark = "sabath-version\t";
constexpr std::string_view threads_mark = "sabath-threads\t";

void take_line(std::string_view line,
               std::string_view mark,
               std::map<std::string, std::string>& to) {
  if (!line.starts_with(mark)) return;
  line.remove_prefix(mark.size());
  const auto tab = line.find('\t');
  if (tab != std::string_view::npos) to.emplace(line.substr(0, tab), line.substr(tab + 1));
}

}  // namespace

bool can_be_asked(std::string_view file_name) {
  return std::any_of(std::begin(questions), std::end(questions), [&](const Question& question) {
    return file_name.starts_with(question.library);
  });
}

LibraryAnswer ask_library(const fs::path& path) {
  const Library library(path);
  const std::string name = path.filename().string();
  LibraryAnswer answer;
  for (const Question& question : questions) {
    if (!name.starts_with(question.library)) continue;
    const auto found = question.ask(library, question.symbol);
    if (!found || found->empty()) continue;
    auto& to = question.is_threads ? answer.threads : answer.versions;
    to.emplace(question.key, base::printable(std::string(question.label) + *found));
  }
  return answer;
}

std::string answer_lines(const LibraryAnswer& answer) {
  std::string text = "\n";  // what the library printed may end in the middle of a line
  for (const auto& [key, version] : answer.versions)
    text += fmt::format("{}{}\t{}\n", version_mark, key, version);
  for (const auto& [key, number] : answer.threads)
    text += fmt::format("{}{}\t{}\n", threads_mark, key, number);
  return text;
}

LibraryAnswer answer_from(std::string_view output) {
  LibraryAnswer answer;
  for (const std::string& line : base::split(output, '\n')) {
    take_line(line, version_mark, answer.versions);
    take_line(line, threads_mark, answer.threads);
  }
  return answer;
}

}  // namespace sabath::probe
