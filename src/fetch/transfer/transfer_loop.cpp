#include "transfer_loop.hpp"

#include <algorithm>

namespace sabath::fetch {

namespace {

constexpr std::chrono::milliseconds longest_step(100);
constexpr long idle_connections = 64;

}  // namespace

CURLM* TransferLoop::multi() {
  if (!multi_) {
    multi_ = make_multi();
    CURLM* const loop = multi_.get();
    check(curl_multi_setopt(loop, CURLMOPT_MAXCONNECTS, idle_connections));
    check(curl_multi_setopt(
        loop, CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(connections_per_host_)));
  }
  return multi_.get();
}

void TransferLoop::add(CURL* transfer) {
  check(curl_multi_add_handle(multi(), transfer));
}

void TransferLoop::remove(CURL* transfer) noexcept {
  if (multi_) curl_multi_remove_handle(multi_.get(), transfer);
}

std::vector<TransferLoop::Ended> TransferLoop::step() {
  std::vector<Ended> ended;
  int running = 0;
  check(curl_multi_perform(multi(), &running));
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi(), &left)) {
    if (message->msg == CURLMSG_DONE) ended.push_back({message->easy_handle, message->data.result});
  }
  for (const Ended& each : ended)
    remove(each.transfer);
  return ended;
}

void TransferLoop::wait(std::chrono::nanoseconds most) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(most).count();
  check(curl_multi_poll(multi(), nullptr, 0, static_cast<int>(std::max<long>(ms, 0)), nullptr));
}

void TransferLoop::wake() noexcept {
  if (multi_) curl_multi_wakeup(multi_.get());
}

std::optional<CURLcode> TransferLoop::run(CURL* transfer,
                                          const std::stop_token& stop,
                                          const std::function<bool()>& tick) {
  const Membership membership(*this, transfer);
  const std::stop_callback wake_up(stop, [this] { wake(); });
  while (!stop.stop_requested()) {
    for (const Ended& ended : step()) {
      if (ended.transfer == transfer) return ended.code;
    }
    if (!tick()) return {};
    wait(longest_step);
  }
  return {};
}

}  // namespace sabath::fetch
