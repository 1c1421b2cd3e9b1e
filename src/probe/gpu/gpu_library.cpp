#include "gpu_library.hpp"

#include "fact_file.hpp"

namespace sabath::probe {
namespace {

/// PROC_PID_INIT_INO of the kernel: the namespace of the machine itself.
constexpr std::string_view machines_own = "pid:[4026531836]";

}  // namespace

SharedLibrary::SharedLibrary(const std::string& name)
    : handle_(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_) return;
  const char* why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
  const std::string problem = why == nullptr ? "" : why;
  const bool absent = problem.find("No such file") != std::string::npos;
  reason_ = absent ? name + " not found" : "cannot load " + name + ": " + problem;
}

std::string process_name(unsigned pid, const std::filesystem::path& root) {
  if (link_text(root / "proc/self/ns/pid") != machines_own) return {};
  return read_fact(root / "proc" / std::to_string(pid) / "comm").value_or("");
}

}  // namespace sabath::probe
