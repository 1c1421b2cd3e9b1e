#include "image_tools.hpp"

#include "layers/layer_variables.hpp"
#include "source/build_steps.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/regex.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

namespace sabath::env {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::size_t most_output_bytes = 16U << 20U;

/// Variables of the user that tools for images need.
bool is_for_tools(const std::string& name) {
  static const base::Form form(
      "(?s)HOME|USER|LOGNAME|TMPDIR|DBUS_SESSION_BUS_ADDRESS|REGISTRY_AUTH_FILE|SSL_CERT_FILE|"
      "SSL_CERT_DIR|http_proxy|https_proxy|no_proxy|HTTP_PROXY|HTTPS_PROXY|NO_PROXY|"
      "(?:XDG|CONTAINER|CONTAINERS|DOCKER|PODMAN)_.*|"
      "(?:APPTAINER|SINGULARITY)_(?:.*_)?"
      "(?:CACHEDIR|TMPDIR|CONFIGDIR|DOCKER_USERNAME|DOCKER_PASSWORD|LOCALCACHEDIR)");
  return form.matches(name);
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
constexpr std::string_view no_network = "registries.conf sets mirrors and registries without TLS; ";
constexpr std::string_view no_rights =
    "the engine is not set up for this user: rootless podman wants ranges in /etc/subuid and "
    "/etc/subgid, docker a daemon and the group 'docker', apptainer user namespaces";

/// Messages of skopeo, podman, docker and apptainer; the first match counts.
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

}  // namespace

bool runs_image_files(std::string_view engine) {
  return engine == "apptainer" || engine == "singularity";
}

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
  const auto program = base::find_program(name, search_path(environment_));
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
  command.silence_deadline = limits_.silence;  // else none: copying is silent for long
  base::ProcessResult result =
      run_unless_stopped(processes_, command, stop_, place_ + ": interrupted");
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
  const auto* const sign = std::ranges::find_if(
      signs, [&](const Sign& one) { return all.find(one.text) != std::string::npos; });
  const bool is_known = sign != signs.end();
  throw Error(is_known ? sign->kind : ErrorKind::environment,
              place_ + ": cannot " + doing + ": it " + result.describe() + ":" +
                  last_lines_in(result.errors.empty() ? result.output : result.errors, 8),
              is_known ? std::string(sign->hint) +
                             (sign->kind == ErrorKind::transfer ? without_network(doing) : "")
              : log_.empty() ? std::string()
                             : "the whole log is " + log_.string());
}

}  // namespace sabath::env
