#include "net/http_request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <utility>

#include "net/request_target.h"

namespace knx::net {
namespace {

namespace beast = boost::beast;

constexpr int kBadRequest = 400, kTooLargeBody = 413, kExpectationFailed = 417, kTooLargeHead = 431,
              kNotImplemented = 501;

std::string InLowerCase(beast::string_view text) {
  std::string out(text.data(), text.size());
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

}  // namespace

class HttpRequestParser::Machine final : public beast::http::basic_parser<true> {
 public:
  using Code = beast::error_code;
  using Text = beast::string_view;

  ServerRequest request;
  bool http_1_0 = false;
  bool expects = false;
  std::optional<Refusal> refusal;  // of what Beast would accept

 private:
  void Refuse(int status, std::string reason, Code& error) {
    refusal = Refusal{status, std::move(reason)};
    error = beast::http::error::bad_field;
  }
  void on_request_impl(beast::http::verb, Text method, Text target, int version,
                       Code& error) override {
    request.method = std::string(method);
    request.target = std::string(target);
    http_1_0 = version == 10;
    auto parts = ParseTarget(request.target);
    if (!parts.ok()) return Refuse(kBadRequest, parts.error().message, error);
    request.path = std::move(parts->path);
    request.query = std::move(parts->query);
  }
  void on_response_impl(int, Text, int, Code&) override {}
  void on_field_impl(beast::http::field, Text name, Text value, Code&) override {
    // What comes behind the body is nothing that a request can be judged by.
    if (is_header_done()) return;
    request.headers.emplace_back(InLowerCase(name), std::string(value));
  }
  void on_header_impl(Code& error) override {
    const auto count = [this](std::string_view name) {
      return std::count_if(request.headers.begin(), request.headers.end(),
                           [name](const auto& header) { return header.first == name; });
    };
    const auto hosts = count("host");
    if (hosts > 1 || (hosts == 0 && !http_1_0)) {
      return Refuse(kBadRequest,
                    hosts > 1 ? "too many Host headers" : "missing required Host header", error);
    }
    if (count("transfer-encoding") > 0 &&
        (http_1_0 || InLowerCase(FindHeader(request.headers, "transfer-encoding")) != "chunked")) {
      return Refuse(kNotImplemented, "unsupported transfer encoding", error);
    }
    const std::string_view expect = FindHeader(request.headers, "expect");
    if (expect.empty() || http_1_0) return;
    if (InLowerCase(expect) != "100-continue") {
      return Refuse(kExpectationFailed, "unsupported expectation", error);
    }
    expects = !is_done();
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Code&) override {}
  std::size_t on_body_impl(Text bytes, Code&) override {
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, Code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, Code& error) override {
    return on_body_impl(bytes, error);
  }
  void on_finish_impl(Code&) override {}
};

HttpRequestParser::HttpRequestParser(Limits limits)
    : machine_(std::make_unique<Machine>()), limits_(limits) {
  machine_->eager(true);
  machine_->header_limit(
      static_cast<std::uint32_t>(std::min<std::size_t>(limits.head, UINT32_MAX)));
  machine_->body_limit(limits.body);
}

HttpRequestParser::~HttpRequestParser() = default;

std::size_t HttpRequestParser::Parse(std::string_view bytes) {
  if (refusal_ || complete()) return 0;
  const bool in_head = !machine_->is_header_done();
  beast::error_code error;
  const std::size_t taken = machine_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  // Beast limits what it sees at a time; a head may come in many pieces.
  if (in_head) head_bytes_ += taken;
  const bool long_head = !machine_->is_header_done() && head_bytes_ > limits_.head;
  if (machine_->refusal) {
    refusal_ = machine_->refusal;
  } else if (error == beast::http::error::header_limit || long_head) {
    refusal_ = Refusal{kTooLargeHead, "the headers are too long"};
  } else if (error == beast::http::error::body_limit) {
    refusal_ = Refusal{kTooLargeBody, "the body is too long"};
  } else if (error && error != beast::http::error::need_more) {
    refusal_ = Refusal{kBadRequest, error.message()};
  } else if (!complete() && bytes.size() - taken > limits_.head) {
    refusal_ = Refusal{kBadRequest, "the headers of a chunk are too long"};
  }
  return taken;
}

bool HttpRequestParser::complete() const { return machine_->is_done(); }
bool HttpRequestParser::keep_alive() const { return machine_->keep_alive(); }
bool HttpRequestParser::http_1_0() const { return machine_->http_1_0; }
bool HttpRequestParser::TakeExpectation() { return std::exchange(machine_->expects, false); }
ServerRequest HttpRequestParser::Take() { return std::move(machine_->request); }

std::string_view ReasonPhrase(int status) {
  const auto phrase =
      beast::http::obsolete_reason(beast::http::int_to_status(static_cast<unsigned>(status)));
  return {phrase.data(), phrase.size()};
}

}  // namespace knx::net
