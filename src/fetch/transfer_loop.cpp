#include "transfer_loop.hpp"

namespace sabath::fetch {

namespace {

constexpr int poll_ms = 100;

/// A handle must leave the loop before either is destroyed, whatever happens.
class Membership {
 public:
  Membership(CURLM* loop, CURL* transfer) : loop_(loop), transfer_(transfer) {
    check(curl_multi_add_handle(loop_, transfer_));
  }
  ~Membership() { curl_multi_remove_handle(loop_, transfer_); }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  CURLM* loop_;
  CURL* transfer_;
};

}  // namespace

std::optional<CURLcode> TransferLoop::verdict(CURL* transfer) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg == CURLMSG_DONE && message->easy_handle == transfer) {
      return message->data.result;
    }
  }
  return {};
}

std::optional<CURLcode> TransferLoop::run(CURL* transfer,
                                          const std::stop_token& stop,
                                          const std::function<bool()>& tick) {
  if (!multi_) multi_ = make_multi();
  CURLM* const loop = multi_.get();
  const Membership membership(loop, transfer);
  const std::stop_callback wake(stop, [loop] { curl_multi_wakeup(loop); });
  while (!stop.stop_requested()) {
    int running = 0;
    check(curl_multi_perform(loop, &running));
    if (const auto code = verdict(transfer)) return code;
    if (!tick()) return {};
    check(curl_multi_poll(loop, nullptr, 0, poll_ms, nullptr));
  }
  return {};
}

}  // namespace sabath::fetch
