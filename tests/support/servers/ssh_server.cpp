#include "support/servers/ssh_server.hpp"

#include "support/servers/loopback.hpp"

#include <fmt/format.h>
#include <pwd.h>

#include <stdexcept>

#include <unistd.h>

namespace sabath::test {

namespace {

namespace fs = std::filesystem;

void make_key(const fs::path& path) {
  base::Command command;
  command.argv = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path.string()};
  if (!base::SystemProcessRunner().run(command).ok()) {
    throw std::runtime_error("ssh-keygen does not work");
  }
}

void write(const fs::path& path, const std::string& text) {
  base::write_file_atomically(path, text, base::Durability::ordered_only, 0600);
}

}  // namespace

SshServer::SshServer() : port_(unused_port()) {
  const passwd* const user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe)
  if (user == nullptr) throw std::runtime_error("this user has no name");
  user_ = user->pw_name;
  fs::create_directory(folder());
  make_key(home_ / "host_key");
  make_key(home_ / "user_key");
  fs::copy_file(home_ / "user_key.pub", home_ / "authorized_keys");
  fs::permissions(home_ / "authorized_keys", fs::perms::owner_read | fs::perms::owner_write);
  const std::string home = home_.path().string();
  write(home_ / "sshd_config",
        fmt::format("HostKey {0}/host_key\nAuthorizedKeysFile {0}/authorized_keys\n"
                    "ListenAddress 127.0.0.1:{1}\nPidFile none\nUsePAM no\nStrictModes no\n"
                    "PasswordAuthentication no\nPermitRootLogin prohibit-password\n"
                    "Subsystem sftp internal-sftp\n",
                    home,
                    port_));
  const std::string host_key = base::read_file(home_ / "host_key.pub");
  write(home_ / "known_hosts", fmt::format("[127.0.0.1]:{} {}", port_, host_key));
  write(client_configuration(),
        fmt::format("Host *\n  IdentityFile {0}/user_key\n  IdentitiesOnly yes\n"
                    "  UserKnownHostsFile {0}/known_hosts\n  GlobalKnownHostsFile /dev/null\n"
                    "  StrictHostKeyChecking yes\n",
                    home));
  // Where sshd drops its rights when root starts it; at boot the system makes it.
  if (::geteuid() == 0) fs::create_directories("/run/sshd");
  daemon_ = std::make_unique<Daemon>(
      std::vector<std::string>{
          "/usr/sbin/sshd", "-D", "-e", "-f", (home_ / "sshd_config").string()},
      port_);
}

}  // namespace sabath::test
