#include "image_tools.hpp"

#include "source/build_steps.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <utility>

namespace sabath::env {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::size_t most_output_bytes = 16U << 20U;

/// What people see of it in the environment of other programs, too.
constexpr std::array<std::string_view, 14> known_names{"HOME",
                                                       "USER",
                                                       "LOGNAME",
                                                       "TMPDIR",
                                                       "DBUS_SESSION_BUS_ADDRESS",
                                                       "REGISTRY_AUTH_FILE",
                                                       "SSL_CERT_FILE",
                                                       "SSL_CERT_DIR",
                                                       "http_proxy",
                                                       "https_proxy",
                                                       "no_proxy",
                                                       "HTTP_PROXY",
                                                       "HTTPS_PROXY",
                                                       "NO_PROXY"};
constexpr std::array<std::string_view, 5> known_beginnings{
    "XDG_", "CONTAINER_", "CONTAINERS_", "DOCKER_", "PODMAN_"};
constexpr std::array<std::string_view, 6> apptainer_endings{
    "_CACHEDIR", "_TMPDIR", "_CONFIGDIR", "_DOCKER_USERNAME", "_DOCKER_PASSWORD", "_LOCALCACHEDIR"};

bool is_for_tools(const std::string& name) {
  if (name.starts_with("APPTAINER_") || name.starts_with("SINGULARITY_")) {
    return std::any_of(apptainer_endings.begin(), apptainer_endings.end(), [&](auto ending) {
      return name.ends_with(ending);
    });
  }
  return std::find(known_names.begin(), known_names.end(), name) != known_names.end() ||
         std::any_of(known_beginnings.begin(), known_beginnings.end(), [&](auto beginning) {
           return name.starts_with(beginning);
         });
}

struct Sign {
  std::string_view text{};
  ErrorKind kind = ErrorKind::environment;
  std::string_view hint{};
};

constexpr std::string_view log_in =
    "does the image exist? If it is not public: 'skopeo login', 'podman login', 'docker login' or "
    "'apptainer registry login' with the registry's name";
constexpr std::string_view no_image = "look at the image's name and tag";
constexpr std::string_view no_network =
    "'sabath env fetch RECIPE' where there is a network brings all that a build needs into the "
    "cache; mirrors and registries without TLS are set in registries.conf";
constexpr std::string_view no_rights =
    "the engine is not set up for this user: rootless podman wants ranges in /etc/subuid and "
    "/etc/subgid, docker a daemon and the group 'docker', apptainer user namespaces";

/// In the words of skopeo, podman, docker and apptainer; the first that is found counts.
constexpr std::array<Sign, 24> signs{
    {{"Cannot connect to the Docker daemon", ErrorKind::launch, no_rights},
     {"docker daemon running", ErrorKind::launch, no_rights},
     {"permission denied while trying to connect", ErrorKind::launch, no_rights},
     {"newuidmap", ErrorKind::launch, no_rights},
     {"newgidmap", ErrorKind::launch, no_rights},
     {"subuid", ErrorKind::launch, no_rights},
     {"user namespace", ErrorKind::launch, no_rights},
     {"unauthorized", ErrorKind::access, log_in},
     {"authentication required", ErrorKind::access, log_in},
     {"access to the resource is denied", ErrorKind::access, log_in},
     {"no basic auth credentials", ErrorKind::access, log_in},
     {"manifest unknown", ErrorKind::not_found, no_image},
     {"name unknown", ErrorKind::not_found, no_image},
     {"repository name not known", ErrorKind::not_found, no_image},
     {"no such manifest", ErrorKind::not_found, no_image},
     {"no such host", ErrorKind::transfer, no_network},
     {"connection refused", ErrorKind::transfer, no_network},
     {"connection reset", ErrorKind::transfer, no_network},
     {"network is unreachable", ErrorKind::transfer, no_network},
     {"timeout", ErrorKind::transfer, no_network},
     {"TLS handshake", ErrorKind::transfer, no_network},
     {"HTTP response to HTTPS client", ErrorKind::transfer, no_network},
     {"x509", ErrorKind::transfer, no_network},
     {"unexpected EOF", ErrorKind::transfer, no_network}}};

std::string told(const base::ProcessResult& result) {
  std::vector<std::string> lines;
  std::istringstream stream(result.errors.empty() ? result.output : result.errors);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return last_lines(lines, 8);
}

}  // namespace

base::Environment tool_environment(const base::Environment& user,
                                   const base::Environment& variables) {
  base::Environment environment = variables;
  for (const auto& [name, value] : user) {
    if (is_for_tools(name)) environment[name] = value;
  }
  return environment;
}

ImageTools::ImageTools(base::ProcessRunner& processes,
                       base::Environment environment,
                       std::string place,
                       std::stop_token stop,
                       std::filesystem::path log,
                       BuildLimits limits)
    : processes_(processes),
      environment_(std::move(environment)),
      place_(std::move(place)),
      stop_(std::move(stop)),
      log_(std::move(log)),
      limits_(limits) {}

std::optional<std::string> ImageTools::find(const std::string& name) const {
  const auto path = environment_.find("PATH");
  const auto program = base::find_program(name, path == environment_.end() ? "" : path->second);
  if (!program) return std::nullopt;
  return program->string();
}

base::ProcessResult ImageTools::run(std::vector<std::string> argv,
                                    const std::filesystem::path& directory) const {
  base::Command command;
  command.working_directory = directory;
  const std::string shown = base::quote_command(argv);
  command.argv = std::move(argv);
  command.environment = environment_;
  command.capture_limit = most_output_bytes;
  command.deadline = limits_.wall.value_or(std::chrono::hours(4));
  command.silence_deadline = limits_.silence;  // else none: copying says nothing for long
  base::ProcessResult result = processes_.run(command, stop_);
  if (result.end == base::ProcessEnd::stopped)
    throw Error(ErrorKind::interrupted, place_ + ": interrupted");
  if (!log_.empty()) {
    std::ofstream(log_, std::ios::app) << "$ " << shown << "\n" << result.output << result.errors;
  }
  return result;
}

std::string ImageTools::ask(const std::string& doing,
                            std::vector<std::string> argv,
                            const std::filesystem::path& directory) const {
  base::ProcessResult result = run(std::move(argv), directory);
  if (!result.ok()) fail(doing, result);
  return std::move(result.output);
}

void ImageTools::fail(const std::string& doing, const base::ProcessResult& result) const {
  refuse_full_disk(result, place_ + ": cannot " + doing);
  const std::string all = result.errors + result.output;
  const auto* const sign = std::find_if(signs.begin(), signs.end(), [&](const Sign& one) {
    return all.find(one.text) != std::string::npos;
  });
  const bool is_known = sign != signs.end();
  throw Error(is_known ? sign->kind : ErrorKind::environment,
              place_ + ": cannot " + doing + ": it " + result.describe() + ":" + told(result),
              is_known       ? std::string(sign->hint)
              : log_.empty() ? std::string()
                             : "the whole log is " + log_.string());
}

}  // namespace sabath::env
