#include "net/byte_stream.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace knx::net {
namespace {

constexpr std::size_t kPieceSize = 64 * 1024;
// So that one client that never pauses does not keep us from the others.
constexpr int kMostReadsAtOnce = 16;
// How much of what was sent is kept before it is dropped.
constexpr std::size_t kMostSentKept = 256 * 1024;

std::string DerOf(X509* certificate) {
  unsigned char* bytes = nullptr;
  const int length = i2d_X509(certificate, &bytes);
  if (length <= 0) return "";
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  OPENSSL_free(bytes);
  return out;
}

bool IsForLater(int tls_error) {
  return tls_error == SSL_ERROR_WANT_READ || tls_error == SSL_ERROR_WANT_WRITE;
}

}  // namespace

ByteStream::ByteStream(EventLoop& loop, int accepted, const std::shared_ptr<const TlsContext>& tls,
                       Duration timeout, Callbacks callbacks)
    : loop_(loop), callbacks_(std::move(callbacks)), socket_(accepted) {
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (tls != nullptr) ssl_ = tls->Accept(socket_);
  timeout_ = loop_.After(timeout, [this, timeout] {
    timeout_ = {};
    Fail(fmt::format("no TLS connection within {}", FormatDuration(timeout)));
  });
  loop_.Watch(socket_, watched_for_, [this](std::uint32_t readiness) { OnReady(readiness); });
  loop_.Post([this, alive = alive_] {
    if (*alive && phase_ == Phase::kShakingHands) ShakeHands();
  });
}

ByteStream::~ByteStream() {
  *alive_ = false;
  loop_.Cancel(timeout_);
  CloseSocket();
}

void ByteStream::ShakeHands() {
  if (ssl_ == nullptr) return Open();
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_);
  if (done == 1) return Open();
  const int error = SSL_get_error(ssl_, done);
  handshake_wants_write_ = error == SSL_ERROR_WANT_WRITE;
  if (!IsForLater(error)) return FailTls(error);
  WatchFor();
}

void ByteStream::Open() {
  phase_ = Phase::kOpen;
  loop_.Cancel(timeout_);
  timeout_ = {};
  WatchFor();
  const auto alive = alive_;
  // The first bytes may have come together with the last of the handshake.
  ReceiveMore();
  if (*alive && phase_ == Phase::kOpen) Send();
}

// ---- bytes that come ----

void ByteStream::OnReady(std::uint32_t readiness) {
  const auto alive = alive_;
  if (phase_ == Phase::kShakingHands) return ShakeHands();
  if ((readiness & (kReadable | kBroken)) != 0) {
    if (reading_) {
      Receive();
    } else if ((readiness & kBroken) != 0) {
      return Fail("the client closed the connection");
    }
  }
  if (*alive && phase_ == Phase::kOpen && (readiness & kWritable) != 0) Send();
}

void ByteStream::Receive() {
  std::array<char, kPieceSize> buffer;
  const auto alive = alive_;
  for (int reads = 0; *alive && phase_ == Phase::kOpen && reading_; ++reads) {
    if (reads == kMostReadsAtOnce) return ReceiveMore();
    const std::size_t got = ReadSome(buffer.data(), buffer.size());
    if (got == 0) return;
    callbacks_.received(std::string_view(buffer.data(), got));
  }
}

std::size_t ByteStream::ReadSome(char* into, std::size_t size) {
  if (ssl_ != nullptr) {
    ERR_clear_error();
    const int got = SSL_read(ssl_, into, static_cast<int>(size));
    if (got > 0) return static_cast<std::size_t>(got);
    const int error = SSL_get_error(ssl_, got);
    if (!IsForLater(error)) FailTls(error);
    return 0;
  }
  const auto got = recv(socket_, into, size, 0);
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0) {
    Fail("the client closed the connection");
  } else if (errno != EAGAIN && errno != EINTR) {
    Fail(std::strerror(errno));
  }
  return 0;
}

void ByteStream::ReceiveMore() {
  if (ssl_ == nullptr || SSL_has_pending(ssl_) == 0) return;
  loop_.Post([this, alive = alive_] {
    if (*alive && phase_ == Phase::kOpen) Receive();
  });
}

void ByteStream::Pause() {
  reading_ = false;
  if (phase_ == Phase::kOpen) WatchFor();
}

void ByteStream::Resume() {
  if (std::exchange(reading_, true) || phase_ != Phase::kOpen) return;
  WatchFor();
  ReceiveMore();
}

// ---- bytes that go ----

void ByteStream::Write(std::string_view bytes) {
  if (phase_ == Phase::kClosed || ending_) return;
  out_ += bytes;
  if (phase_ == Phase::kOpen) Send();
}

void ByteStream::Send() {
  const bool had_some = unsent() > 0;
  while (unsent() > 0) {
    const std::size_t put = SendSome();
    if (put == 0) break;
    sent_ += put;
  }
  if (phase_ != Phase::kOpen) return;
  if (unsent() == 0 || sent_ > kMostSentKept) {
    out_.erase(0, sent_);
    sent_ = 0;
  }
  WatchFor();
  if (unsent() > 0) return;
  if (ending_) TellTheEnd();
  if (had_some) callbacks_.drained();
}

std::size_t ByteStream::SendSome() {
  const char* from = out_.data() + sent_;
  const std::size_t size = std::min(unsent(), kPieceSize);
  if (ssl_ != nullptr) {
    ERR_clear_error();
    const int put = SSL_write(ssl_, from, static_cast<int>(size));
    if (put > 0) return static_cast<std::size_t>(put);
    const int error = SSL_get_error(ssl_, put);
    if (!IsForLater(error)) FailTls(error);
    return 0;
  }
  const auto put = send(socket_, from, size, MSG_NOSIGNAL);
  if (put >= 0) return static_cast<std::size_t>(put);
  if (errno != EAGAIN && errno != EINTR) Fail(std::strerror(errno));
  return 0;
}

void ByteStream::WatchFor() {
  std::uint32_t wanted = reading_ || phase_ != Phase::kOpen ? std::uint32_t{kReadable} : 0U;
  if (phase_ == Phase::kShakingHands && handshake_wants_write_) wanted = kWritable;
  if (phase_ == Phase::kOpen && unsent() > 0) wanted |= kWritable;
  if (wanted == watched_for_) return;
  watched_for_ = wanted;
  loop_.Change(socket_, wanted);
}

std::vector<std::string> ByteStream::PeerCertificates() const {
  std::vector<std::string> out;
  X509* own = ssl_ == nullptr ? nullptr : SSL_get1_peer_certificate(ssl_);
  if (own == nullptr) return out;
  out.push_back(DerOf(own));
  X509_free(own);
  // A server is shown the chain without the client's own certificate.
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl_);
  for (int i = 0; i < sk_X509_num(chain); ++i) out.push_back(DerOf(sk_X509_value(chain, i)));
  return out;
}

// ---- the end ----

void ByteStream::EndWriting() {
  ending_ = true;
  if (phase_ == Phase::kOpen && unsent() == 0) TellTheEnd();
}

void ByteStream::TellTheEnd() {
  ERR_clear_error();
  if (ssl_ != nullptr) SSL_shutdown(ssl_);
  shutdown(socket_, SHUT_WR);
}

void ByteStream::CloseSocket() {
  SSL_free(ssl_);
  ssl_ = nullptr;
  if (socket_ < 0) return;
  loop_.Unwatch(socket_);
  close(socket_);
  socket_ = -1;
}

void ByteStream::FailTls(int error) {
  const bool ended = error == SSL_ERROR_ZERO_RETURN || error == SSL_ERROR_SYSCALL;
  Fail(ended ? "the client closed the connection" : TlsComplaint());
}

void ByteStream::Fail(std::string what) {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  loop_.Cancel(timeout_);
  timeout_ = {};
  CloseSocket();
  // Not from within a call of the one who is told: it may destroy us.
  loop_.Post([this, alive = alive_, error = Error{ErrorKind::kUnavailable, std::move(what), {}}] {
    if (*alive) callbacks_.closed(error);
  });
}

}  // namespace knx::net
