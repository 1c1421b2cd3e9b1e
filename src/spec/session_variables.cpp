#include <sabath/spec/session_variables.hpp>

#include <algorithm>
#include <array>

namespace sabath::spec {
namespace {

// docs/formats/record.md lists all of these.

constexpr auto login_names = std::to_array<std::string_view>({"_",
                                                              "COLORTERM",
                                                              "COLUMNS",
                                                              "DBUS_SESSION_BUS_ADDRESS",
                                                              "DISPLAY",
                                                              "GNOME_TERMINAL_SCREEN",
                                                              "GNOME_TERMINAL_SERVICE",
                                                              "GPG_TTY",
                                                              "INVOCATION_ID",
                                                              "ITERM_SESSION_ID",
                                                              "JOURNAL_STREAM",
                                                              "KITTY_PID",
                                                              "KITTY_WINDOW_ID",
                                                              "LESS",
                                                              "LESSOPEN",
                                                              "LINES",
                                                              "LS_COLORS",
                                                              "MAIL",
                                                              "MAKEFLAGS",
                                                              "MAKELEVEL",
                                                              "MFLAGS",
                                                              "OLDPWD",
                                                              "PAGER",
                                                              "PS1",
                                                              "PWD",
                                                              "SESSION_MANAGER",
                                                              "SHLVL",
                                                              "STY",
                                                              "SYSTEMD_EXEC_PID",
                                                              "TERM",
                                                              "TERM_PROGRAM",
                                                              "WAYLAND_DISPLAY",
                                                              "WINDOWID",
                                                              "WT_SESSION"});
constexpr auto login_heads = std::to_array<std::string_view>({"KONSOLE_",
                                                              "SSH_C",
                                                              "SSH_TTY",
                                                              "TERM_SESSION",
                                                              "TMUX",
                                                              "VSCODE_",
                                                              "VTE_",
                                                              "XAUTH",
                                                              "XDG_SE",
                                                              "XDG_VTNR"});
/// Of terminals and desktops as well; here cached stages inherit them.
constexpr auto desktop_names = std::to_array<std::string_view>({"COLORFGBG",
                                                                "DESKTOP_SESSION",
                                                                "DESKTOP_STARTUP_ID",
                                                                "I3SOCK",
                                                                "SWAYSOCK",
                                                                "TERMINATOR_UUID",
                                                                "TERM_PROGRAM_VERSION"});
constexpr auto desktop_heads = std::to_array<std::string_view>({"ALACRITTY_",
                                                                "GDM",
                                                                "GHOSTTY_",
                                                                "GNOME_",
                                                                "KDE_",
                                                                "KITTY_",
                                                                "SSH_",
                                                                "WEZTERM_",
                                                                "XDG_ACTIVATION_",
                                                                "XDG_CURRENT_",
                                                                "XDG_MENU_"});
constexpr auto place_names = std::to_array<std::string_view>(
    {"HOME",          "HOSTNAME",       "JOB_ID",  "JOB_NAME",    "JOB_SCRIPT", "KRB5CCNAME",
     "LOGNAME",       "NSLOTS",         "PE",      "PE_HOSTFILE", "QUEUE",      "REQUEST",
     "SSH_AGENT_PID", "SSH_AUTH_SOCK",  "TASK_ID", "TEMP",        "TMP",        "TMPDIR",
     "USER",          "XDG_RUNTIME_DIR"});
/// Of schedulers, of what starts ranks, and of CI services; which GPUs a stage has.
constexpr auto place_heads = std::to_array<std::string_view>(
    {"BUILDKITE_",   "CI_",   "CUDA_VISIBLE_", "FLUX_",   "GITHUB_", "GPU_DEVICE_ORD",
     "HIP_VISIBLE_", "LSB_",  "LS_JOB",        "LSF_",    "OAR_",    "PALS_",
     "PBS_",         "PMIX_", "PMI_",          "PRTE_",   "ROCR_",   "RUNNER_",
     "SGE_",         "SLURM", "ZE_AFFINITY_",  "_CONDOR_"});

template <class Names, class Heads>
bool is_among(std::string_view name, const Names& names, const Heads& heads) {
  const auto begins = [&](std::string_view head) { return name.starts_with(head); };
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(heads.begin(), heads.end(), begins);
}

}  // namespace

bool is_of_login(std::string_view variable) {
  return is_among(variable, login_names, login_heads);
}

bool is_of_place(std::string_view variable) {
  return is_among(variable, place_names, place_heads);
}

bool changes_with_session(std::string_view variable) {
  return is_of_login(variable) || is_of_place(variable) ||
         is_among(variable, desktop_names, desktop_heads);
}

}  // namespace sabath::spec
