// Calls to an API server: plain ones with a whole answer, and streams. Watches and all else that
// only reads have connections of their own, mostly one, so that they are not held up by writes, nor
// the other way round; and who may not write may still look.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "client/rate_limit.h"
#include "client/trouble_log.h"
#include "net/event_loop.h"
#include "net/http_client.h"

namespace knx::client {

// What a server is given at most for a call that changes something. An API server gives a webhook
// ten seconds, unless its owner says otherwise, and goes on without one that may be left out: it
// must come to that before it gives up on what was written.
constexpr Duration kLongestWrite = Duration::Seconds(12);
// So long after one was sent nothing more comes of it: with the time that bytes need to get there.
constexpr Duration kWritesAreOver = kLongestWrite + Duration::Seconds(3);

struct Response {
  int status = 0;
  net::Headers headers;
  std::string body;

  [[nodiscard]] bool ok() const { return status >= 200 && status < 300; }
};

// What the server says went wrong: its message, with an ErrorKind for the status. kForbidden is for
// rights that we lack; a 403 may also be about what was sent, and is kInvalid then.
Error ErrorOf(const Response& response);

// By what a server says of a watch that it refuses or ends: it was set back, and will not reach the
// place from which we want to go on for a long time, or never.
bool IsFromTheFuture(std::string_view message);

// What a request carries so that the server knows who we are.
struct Authorization {
  Authorization(std::string value = "", std::uint64_t number = 0)  // NOLINT(*-explicit-*)
      : header(std::move(value)), generation(number) {}

  std::string header;            // its value; empty: none is sent
  std::uint64_t generation = 0;  // another one whenever it has changed
  bool pending = false;          // a newer one is on its way
};

class ApiClient {
 public:
  struct Options {
    net::Endpoint endpoint;
    std::string base_path = {};                           // in front of every path
    std::function<Authorization()> authorization = {};    // as of now; may be empty
    std::function<void(std::uint64_t)> refused = {};      // a generation that got a 401
    std::function<void(std::string_view line)> log = {};  // of troubles(); may be empty
    // A right that we lack, as a line of its own kind; empty: goes to `log`.
    std::function<void(std::string_view line)> missing_right = {};
    std::string user_agent = {};
    // At 100 requests each. An API server carries out about 100 of one client at a time, lets 300
    // wait, and puts off the rest by a second; and the more wait, the more it has to do.
    std::size_t write_connections = 2;
    net::Http2Connection::Timing timing = {};
    // Whether calls that change something may still be sent; empty: always. Asked when one is made,
    // made again, and by the connection right before bytes leave (net::Endpoint::may_send).
    std::function<bool()> may_send = {};
    // How long the server may take for a call that changes something and is sent now; empty: as it
    // likes.
    std::function<Duration()> server_timeout = {};
    // Calls a second, counted apart for urgent and patient ones; zero or less: no limit.
    double calls_per_second = 0;
    std::int32_t burst = 0;
    // Is told of every attempt of a call, by method and status; 0: there was no answer. May be
    // empty.
    std::function<void(std::string_view method, int status)> answered = {};
    // What is there is read as a list by pages rather than from the beginning of a watch.
    bool lists_by_pages = false;
    // What is longer is not read to its end: nothing that we ask has such an answer, but a page of
    // a list of large objects.
    std::size_t longest_answer = std::size_t{64} << 20;
  };
  ApiClient(net::EventLoop& loop, Options options);
  ~ApiClient();
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  struct Call {
    std::string method = "GET";
    std::string path = {};
    std::string body = {};
    std::string content_type = "application/json";
    Duration timeout = Duration::Seconds(30);
    bool urgent = true;
    std::string accept = "application/json";
    int attempts = 10;  // at most
    // Whoever sends it says itself which right is missing, in better words than troubles() has.
    bool says_what_is_forbidden = false;
    std::string etag = {};  // of the answer that is known: 304 if it is still the same
    // Of a call that changes something: asked before each attempt, when bytes can leave. False: it
    // is given up, because somebody else was faster. Empty: it is always wanted.
    std::function<bool()> wanted = {};
    // Done twice it is the same as done once: sent again also if its answer is lost.
    bool repeatable = false;
  };
  // What the server has certainly not acted upon (no connection could be had within the call's
  // time-out), or asks to be sent later, is sent again a few times, with pauses that grow, and
  // after a 401 once with other credentials, if there are any; what it may have acted upon is not.
  using Done = std::function<void(Result<Response> response)>;
  void Send(Call call, Done done);
  // For calls of which only matters whether the server did it.
  void Send(Call call, std::function<void(const Status& outcome)> done);

  // Something will have to be changed soon: opens a connection for that ahead of time.
  void ExpectWrites();
  // From now on connections are made to this one, for example with another certificate.
  void Replace(const net::Endpoint& endpoint);

  // What is wrong with the server, for people. A right that is missing is reported here by itself,
  // so whoever gets a kForbidden has nothing more to say.
  [[nodiscard]] TroubleLog& troubles() { return troubles_; }
  // Why the last call that ended, or is about to be sent again, could not be sent; empty: it was.
  [[nodiscard]] const std::string& not_sent_because() const { return not_sent_because_; }
  // Whether the server may have acted upon the last call that ended: one of its attempts was
  // taken, failed on the server's side, or got no answer after it was sent. Not those that were
  // refused, or put off (429).
  [[nodiscard]] bool may_be_done() const { return may_be_done_; }
  // Whether the call that ends now does so because its answer is longer than longest_answer.
  [[nodiscard]] bool answer_too_long() const { return answer_too_long_; }
  [[nodiscard]] std::size_t longest_answer() const { return options_.longest_answer; }
  // Whether the server tells everything that is there only by lists, not at the begin of a watch:
  // found out by one who watches, known to all then.
  [[nodiscard]] bool lists_by_pages() const { return options_.lists_by_pages; }
  void set_lists_by_pages() { options_.lists_by_pages = true; }

  // A GET whose answer has no end.
  using StreamId = net::HttpClient::RequestId;
  StreamId Open(std::string path, std::string accept, std::unique_ptr<net::ResponseSink> sink);
  void Close(StreamId id) { watches_.Cancel(id); }

  // Ends all connections but those of streams, with a reset, and sends nothing from then on. Nobody
  // is told of what was not answered yet. Not from within an answer to a call of this client.
  void StopSending();

  // Whether calls that change something may still be sent. For those who write elsewhere, too.
  [[nodiscard]] bool MayWrite() const;

  // Calls that were not answered yet; of the urgent ones those that are not put off.
  [[nodiscard]] std::size_t urgent_calls() const { return urgent_calls_; }
  [[nodiscard]] std::size_t patient_calls() const { return patient_calls_; }
  // Urgent ones that the server asked to be sent later.
  [[nodiscard]] std::size_t put_off() const { return put_off_; }

 private:
  struct Attempt;
  class Watcher;

  void Send(const std::shared_ptr<Attempt>& attempt);
  void SendAfter(Duration wait, const std::shared_ptr<Attempt>& attempt);
  void PutOff(Duration wait, const std::shared_ptr<Attempt>& attempt);
  void Finish(const std::shared_ptr<Attempt>& attempt, Result<Response> response);
  void CountCall(bool urgent, int more);
  [[nodiscard]] bool MaySend(const Call& call) const;
  [[nodiscard]] net::Endpoint Guarded(net::Endpoint endpoint) const;
  // What tells the server how long it may take.
  [[nodiscard]] std::string EndOf(const std::string& path) const;
  void OnAnswer(const std::shared_ptr<Attempt>& attempt, Result<Response> response, bool unsent);
  void OnTooLong(const std::shared_ptr<Attempt>& attempt);
  void OnForbidden(const Call& call, const Response& response);
  // False: there are no other credentials to be had.
  bool SendWithOthers(const std::shared_ptr<Attempt>& attempt);
  // Sets `generation` to that of the credentials.
  [[nodiscard]] net::Headers CommonHeaders(std::string accept, std::uint64_t& generation) const;
  void OnRefused(std::uint64_t generation) const;

  net::EventLoop& loop_;
  Options options_;
  net::HttpClient watches_;
  bool stopped_ = false;
  std::optional<net::HttpClient> writes_;
  RateLimit urgent_limit_, patient_limit_;
  TroubleLog troubles_;
  std::string not_sent_because_;
  bool may_be_done_ = false, answer_too_long_ = false;
  std::size_t urgent_calls_ = 0, patient_calls_ = 0, put_off_ = 0;
  bool busy_ = false;  // with many calls
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
