#include "net/testing/http2_server.h"

#include <netinet/in.h>
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>
#include <vector>

#include "base/check.h"

namespace knx::net::testing {

struct Http2Server::Connection {
  struct Stream {
    Asked asked;
    std::string answer;
    std::size_t answered = 0;
    bool ended = false;
  };
  Http2Server* server = nullptr;
  std::uint64_t number = 0;
  int socket = -1;
  SSL* ssl = nullptr;  // over memory: bytes are moved by hand
  nghttp2_session* session = nullptr;
  std::map<std::int32_t, Stream> streams;
  std::string out;
  bool flush_planned = false;

  ~Connection() {
    server->loop_.Unwatch(socket);
    if (session != nullptr) nghttp2_session_del(session);
    if (ssl != nullptr) SSL_free(ssl);
    close(socket);
  }
};

struct ServerCallbacks {
  using Connection = Http2Server::Connection;
  static Connection& Of(void* user) { return *static_cast<Connection*>(user); }
  static std::string_view Text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
    Http2Server::Asked& asked = Of(user).streams[frame->hd.stream_id].asked;
    const std::string key(Text(name, name_size)), text(Text(value, value_size));
    if (key == ":method") {
      asked.method = text;
    } else if (key == ":path") {
      asked.path = text;
    } else {
      asked.headers.emplace_back(key, text);
    }
    return 0;
  }

  static int OnData(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                    std::size_t size, void* user) {
    Of(user).streams[id].asked.body += Text(data, size);
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Connection& connection = Of(user);
    const bool part_of_request =
        frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!part_of_request || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    Http2Server::Asked& asked = connection.streams[frame->hd.stream_id].asked;
    asked.connection = connection.number;
    asked.stream = frame->hd.stream_id;
    // Not from within: what the handler does may end the connection.
    Http2Server* server = connection.server;
    server->loop_.Post([server, alive = server->alive_, asked] {
      if (*alive) server->handler_(asked);
    });
    return 0;
  }

  static int OnClosed(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
    if (code == NGHTTP2_CANCEL) ++Of(user).server->cancelled_;
    Of(user).streams.erase(id);
    return 0;
  }

  static ssize_t ReadAnswer(nghttp2_session*, std::int32_t id, std::uint8_t* buffer,
                            std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                            void* user) {
    Connection::Stream& stream = Of(user).streams[id];
    const std::size_t count =
        stream.answer.copy(reinterpret_cast<char*>(buffer), size, stream.answered);
    stream.answered += count;
    const bool all = stream.answered == stream.answer.size();
    if (all && stream.ended) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return count == 0 && !stream.ended ? ssize_t{NGHTTP2_ERR_DEFERRED}
                                       : static_cast<ssize_t>(count);
  }

  static int SelectHttp2(SSL*, const unsigned char** out, unsigned char* out_size,
                         const unsigned char* in, unsigned int in_size, void*) {
    static constexpr std::array<unsigned char, 3> kOnly = {2, 'h', '2'};
    const int found = SSL_select_next_proto(const_cast<unsigned char**>(out), out_size,
                                            kOnly.data(), kOnly.size(), in, in_size);
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
  }
};

namespace {

template <class T, class Read>
T* ReadPem(const std::string& pem, Read read) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  T* out = read(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  KNX_CHECK(out != nullptr, "a test gives the server what it cannot read");
  return out;
}

SSL_CTX* MakeServerTls(const Http2Server::Options& options) {
  SSL_CTX* tls = SSL_CTX_new(TLS_server_method());
  X509* own = ReadPem<X509>(options.cert_pem, PEM_read_bio_X509);
  EVP_PKEY* key = ReadPem<EVP_PKEY>(options.key_pem, PEM_read_bio_PrivateKey);
  SSL_CTX_use_certificate(tls, own);
  SSL_CTX_use_PrivateKey(tls, key);
  X509_free(own);
  EVP_PKEY_free(key);
  SSL_CTX_set_alpn_select_cb(tls, &ServerCallbacks::SelectHttp2, nullptr);
  if (!options.client_ca_pem.empty()) {
    X509* authority = ReadPem<X509>(options.client_ca_pem, PEM_read_bio_X509);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), authority);
    X509_free(authority);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return tls;
}

nghttp2_session* MakeServerSession(const Http2Server::Options& options, void* user) {
  nghttp2_session_callbacks* table = nullptr;
  nghttp2_session_callbacks_new(&table);
  nghttp2_session_callbacks_set_on_header_callback(table, &ServerCallbacks::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(table, &ServerCallbacks::OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, &ServerCallbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(table, &ServerCallbacks::OnClosed);
  nghttp2_option* choices = nullptr;
  nghttp2_option_new(&choices);
  if (!options.answers_pings) nghttp2_option_set_no_auto_ping_ack(choices, 1);
  if (!options.grants_window) nghttp2_option_set_no_auto_window_update(choices, 1);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new2(&session, table, user, choices);
  nghttp2_option_del(choices);
  nghttp2_session_callbacks_del(table);
  const nghttp2_settings_entry most{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.most_streams};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &most, options.most_streams > 0 ? 1 : 0);
  return session;
}

}  // namespace

Http2Server::Http2Server(EventLoop& loop, Options options, Handler handler)
    : loop_(loop), options_(std::move(options)), handler_(std::move(handler)) {
  if (!options_.cert_pem.empty()) tls_ = MakeServerTls(options_);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool listens = bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       listen(listener_, SOMAXCONN) == 0 &&
                       getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  KNX_CHECK(listens, "a test cannot listen on loopback");
  port_ = ntohs(address.sin_port);
  loop_.Watch(listener_, kReadable, [this](std::uint32_t) { Accept(); });
}

Http2Server::~Http2Server() {
  *alive_ = false;
  StopListening();
  connections_.clear();
  SSL_CTX_free(static_cast<SSL_CTX*>(tls_));
}

void Http2Server::StopListening() {
  if (listener_ < 0) return;
  loop_.Unwatch(listener_);
  close(listener_);
  listener_ = -1;
}

void Http2Server::Accept() {
  const int got = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (got < 0) return;
  const std::uint64_t number = ++accepted_;
  auto made = std::make_unique<Connection>();
  made->server = this;
  made->number = number;
  made->socket = got;
  loop_.Watch(got, kReadable, [this, number](std::uint32_t ready) { OnReady(number, ready); });
  if (tls_ != nullptr) {
    made->ssl = SSL_new(static_cast<SSL_CTX*>(tls_));
    SSL_set_bio(made->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(made->ssl);
  }
  if (options_.hangs_up) return;
  Connection& connection = *connections_.emplace(number, std::move(made)).first->second;
  connection.session = MakeServerSession(options_, &connection);
  if (!options_.greeting.empty()) {
    Garbage(number, options_.greeting);
  } else {
    FlushSoon(number);
  }
}

Http2Server::Connection* Http2Server::Find(std::uint64_t number) {
  const auto found = connections_.find(number);
  return found == connections_.end() ? nullptr : found->second.get();
}

// ---- bytes ----

void Http2Server::OnReady(std::uint64_t number, std::uint32_t readiness) {
  Connection* connection = Find(number);
  if (connection == nullptr) return;
  if ((readiness & kReadable) != 0) {
    std::array<char, 64 * 1024> buffer;
    const auto got = recv(connection->socket, buffer.data(), buffer.size(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return Cut(number);
    if (got > 0) Take(*connection, {buffer.data(), static_cast<std::size_t>(got)});
  }
  if (connection = Find(number); connection != nullptr) Flush(*connection);
}

void Http2Server::Take(Connection& connection, std::string_view bytes) {
  if (connection.ssl == nullptr) {
    TakePlain(connection, bytes);
    return;
  }
  BIO_write(SSL_get_rbio(connection.ssl), bytes.data(), static_cast<int>(bytes.size()));
  std::array<char, 64 * 1024> buffer;
  for (;;) {
    ERR_clear_error();
    const int got = SSL_read(connection.ssl, buffer.data(), buffer.size());
    if (got <= 0) {
      const int error = SSL_get_error(connection.ssl, got);
      if (error == SSL_ERROR_WANT_READ) return;
      Flush(connection);  // tells the client why
      return Cut(connection.number);
    }
    if (!TakePlain(connection, {buffer.data(), static_cast<std::size_t>(got)})) return;
  }
}

bool Http2Server::TakePlain(Connection& connection, std::string_view bytes) {
  if (!options_.greeting.empty() || options_.says_nothing) return true;
  const auto taken = nghttp2_session_mem_recv(
      connection.session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken >= 0) return true;
  Cut(connection.number);
  return false;
}

void Http2Server::FlushSoon(std::uint64_t number) {
  Connection* connection = Find(number);
  if (connection == nullptr || std::exchange(connection->flush_planned, true)) return;
  loop_.Post([this, alive = alive_, number] {
    if (!*alive) return;
    Connection* found = Find(number);
    if (found == nullptr) return;
    found->flush_planned = false;
    Flush(*found);
  });
}

void Http2Server::Flush(Connection& connection) {
  if (options_.says_nothing) return;
  std::string plain;
  const bool ready = connection.ssl == nullptr || SSL_is_init_finished(connection.ssl) == 1;
  const std::uint8_t* data = nullptr;
  while (ready && options_.greeting.empty()) {
    const auto size = nghttp2_session_mem_send(connection.session, &data);
    if (size <= 0) break;
    plain += ServerCallbacks::Text(data, static_cast<std::size_t>(size));
  }
  if (connection.ssl == nullptr) {
    connection.out += plain;
  } else {
    if (!plain.empty()) SSL_write(connection.ssl, plain.data(), static_cast<int>(plain.size()));
    char* cipher = nullptr;
    const auto size = BIO_get_mem_data(SSL_get_wbio(connection.ssl), &cipher);
    connection.out.append(cipher, static_cast<std::size_t>(size));
    (void)BIO_reset(SSL_get_wbio(connection.ssl));
  }
  const auto put =
      send(connection.socket, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
  if (put > 0) connection.out.erase(0, static_cast<std::size_t>(put));
  const bool more = !connection.out.empty();
  loop_.Change(connection.socket, more ? kReadable | kWritable : kReadable);
}

// ---- what a test asks for ----

void Http2Server::Begin(const Asked& asked, int status, const Headers& headers) {
  Connection* connection = Find(asked.connection);
  if (connection == nullptr || !connection->streams.contains(asked.stream)) return;
  Headers all = {{":status", std::to_string(status)}};
  all.insert(all.end(), headers.begin(), headers.end());
  std::vector<nghttp2_nv> raw;
  const auto bytes = [](std::string& text) { return reinterpret_cast<std::uint8_t*>(text.data()); };
  for (auto& [name, value] : all) {
    raw.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_data_provider body{};
  body.read_callback = &ServerCallbacks::ReadAnswer;
  nghttp2_submit_response(connection->session, asked.stream, raw.data(), raw.size(), &body);
  FlushSoon(asked.connection);
}

void Http2Server::Write(const Asked& asked, std::string_view bytes) {
  Connection* connection = Find(asked.connection);
  if (connection == nullptr || !connection->streams.contains(asked.stream)) return;
  Connection::Stream& stream = connection->streams[asked.stream];
  // A watch goes on for good; what was sent of it is not kept for long.
  if (stream.answered > stream.answer.size() / 2) {
    stream.answer.erase(0, std::exchange(stream.answered, 0));
  }
  stream.answer += bytes;
  nghttp2_session_resume_data(connection->session, asked.stream);
  FlushSoon(asked.connection);
}

void Http2Server::End(const Asked& asked) {
  Connection* connection = Find(asked.connection);
  if (connection == nullptr || !connection->streams.contains(asked.stream)) return;
  connection->streams[asked.stream].ended = true;
  nghttp2_session_resume_data(connection->session, asked.stream);
  FlushSoon(asked.connection);
}

void Http2Server::Answer(const Asked& asked, int status, std::string_view body,
                         const Headers& headers) {
  Begin(asked, status, headers);
  Write(asked, body);
  End(asked);
}

void Http2Server::Reset(const Asked& asked, std::uint32_t code) {
  Connection* connection = Find(asked.connection);
  if (connection == nullptr) return;
  nghttp2_submit_rst_stream(connection->session, NGHTTP2_FLAG_NONE, asked.stream, code);
  FlushSoon(asked.connection);
}

void Http2Server::GoAway(std::uint64_t number, std::int32_t last_stream) {
  Connection* connection = Find(number);
  if (connection == nullptr) return;
  nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE, last_stream, NGHTTP2_NO_ERROR,
                        nullptr, 0);
  FlushSoon(number);
}

void Http2Server::Garbage(std::uint64_t number, std::string_view bytes) {
  Connection* connection = Find(number);
  if (connection == nullptr) return;
  if (connection->ssl == nullptr) {
    connection->out += bytes;
  } else {
    SSL_write(connection->ssl, bytes.data(), static_cast<int>(bytes.size()));
  }
  FlushSoon(number);
}

void Http2Server::Cut(std::uint64_t number) { connections_.erase(number); }

void Http2Server::CutAll() { connections_.clear(); }

}  // namespace knx::net::testing
