// The bytes of a socket that is connected, with TLS or without, for a server: they go in at any
// time and come out through callbacks, and nothing ever blocks. The other side can be made to wait.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/tls_context.h"

namespace knx::net {

class ByteStream {
 public:
  struct Callbacks {
    std::function<void(std::string_view)> received;
    // All that was given to Write() has been handed to the system.
    std::function<void()> drained;
    // Once, and then nothing more is called; not after the stream was destroyed.
    std::function<void(const Error&)> closed;
  };
  // Takes over a socket that was accepted. With TLS, which is that of a server, hands must be
  // shaken within `timeout`.
  ByteStream(EventLoop& loop, int accepted, const std::shared_ptr<const TlsContext>& tls,
             Duration timeout, Callbacks callbacks);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  void Write(std::string_view bytes);
  // What arrives is left where it is, so that the other side has to wait.
  void Pause();
  void Resume();
  // What was written is still sent, and then the other side is told that no more will come.
  void EndWriting();
  // What the client proves to be, in DER: its own first, then those above. Empty: nothing.
  [[nodiscard]] std::vector<std::string> PeerCertificates() const;

 private:
  enum class Phase { kShakingHands, kOpen, kClosed };

  void OnReady(std::uint32_t readiness);
  void ShakeHands();
  void Open();
  void Receive();
  // Bytes read; 0: none now, or it has failed.
  std::size_t ReadSome(char* into, std::size_t size);
  void Send();
  // Bytes sent; 0: none now, or it has failed.
  std::size_t SendSome();
  void TellTheEnd();
  // Again from the loop, where TLS holds bytes of which the socket does not tell.
  void ReceiveMore();
  void WatchFor();
  void FailTls(int error);
  void Fail(std::string what);
  void CloseSocket();
  [[nodiscard]] std::size_t unsent() const { return out_.size() - sent_; }

  EventLoop& loop_;
  Callbacks callbacks_;
  int socket_;
  ssl_st* ssl_ = nullptr;
  Phase phase_ = Phase::kShakingHands;
  EventLoop::TimerId timeout_;
  std::uint32_t watched_for_ = kReadable;
  bool handshake_wants_write_ = false;
  bool reading_ = true;
  bool ending_ = false;
  std::string out_;
  std::size_t sent_ = 0;
  // Told by what runs later whether there is still somebody to be told.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::net
