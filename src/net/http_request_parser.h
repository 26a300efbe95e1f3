// Bytes of HTTP/1 become a request, by Boost.Beast's parser. What is too long, or could be
// understood in two ways, is refused with the status that says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_exchange.h"

namespace knx::net {

class HttpRequestParser {
 public:
  struct Limits {
    std::size_t head = std::size_t{64} << 10;  // request line and headers
    std::size_t body = std::size_t{1} << 20;
  };
  struct Refusal {
    int status = 0;
    std::string reason;
  };

  explicit HttpRequestParser(Limits limits);
  ~HttpRequestParser();
  HttpRequestParser(const HttpRequestParser&) = delete;
  HttpRequestParser& operator=(const HttpRequestParser&) = delete;

  // Takes bytes from the front and says how many. The others must be given again, with more behind
  // them, unless the request is complete or refused.
  std::size_t Parse(std::string_view bytes);
  [[nodiscard]] bool complete() const;
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }
  // The client waits for our consent before it sends the body. True once.
  bool TakeExpectation();

  // Of a complete request.
  [[nodiscard]] bool keep_alive() const;
  [[nodiscard]] bool http_1_0() const;
  [[nodiscard]] ServerRequest Take();

 private:
  class Machine;  // of Beast

  std::unique_ptr<Machine> machine_;
  Limits limits_;
  std::size_t head_bytes_ = 0;
  std::optional<Refusal> refusal_;
};

// "Not Found" for 404.
std::string_view ReasonPhrase(int status);

}  // namespace knx::net
