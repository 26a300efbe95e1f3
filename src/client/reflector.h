// Follows all objects of one kind: first those that are there, then every change, for good. What
// breaks is taken up again where it ended; where the server has forgotten that place, everything is
// told anew, and what is missing then has gone. What is there is told at the begin of a watch, or,
// by servers that do not do that, by lists in pages.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/api_client.h"
#include "client/list_pages.h"
#include "k8s/read_proto.h"
#include "net/backoff.h"
#include "net/event_loop.h"

namespace knx::client {

// Which objects: "/api/v1/pods", and of them those that a field selector leaves.
struct Collection {
  std::string path;
  std::string field_selector;
  // The server may not have the kind, or not yet: then there are none of it, until it appears.
  // Nothing is asked for until Reflector::MoveTo() says where it is (discovery.h).
  bool optional = false;
  std::vector<std::string> older_versions = {};  // where `path` is not there; the best one first
  // Asked for in JSON: its numbers in protobuf differ from version to version.
  bool json = false;
  // Objects for which this is true are as if they were not there, as far as no field selector can
  // say so. May be empty.
  std::function<bool(const k8s::Object&)> left_out = {};
};

struct ReflectorTiming {
  Duration first_pause = Duration::Milliseconds(200), longest_pause = Duration::Seconds(30);
  // Streams that end sooner are not opened again at once.
  Duration long_enough = Duration::Seconds(1);
  Duration page_timeout = Duration::Seconds(60);
  Duration look_for_optional = Duration::Seconds(30);
  // Without another object while everything is told: who is silent for longer never says that this
  // was everything.
  Duration longest_silence = Duration::Seconds(60);
};

class Reflector {
 public:
  struct Callbacks {
    std::function<void(k8s::Object)> upserted;
    // As it was last known; of pods and nodes only their name and uid.
    std::function<void(const k8s::Object&)> gone;
    // Everything that is there has been told; also after everything was told anew.
    std::function<void()> synced;
    // Somebody should know, but it goes on. The same again only after some minutes. What concerns
    // the whole server goes to ApiClient::troubles() instead.
    std::function<void(std::string_view collection, const Error&)> trouble;
    // An object that could not be read; it is as if it were not there. Every time that it is told;
    // `news`: not for the same reason as before. Empty: that is trouble.
    std::function<void(const k8s::RefusedObject&, bool news)> refused = {};
    // A watch is opened: everything is told anew, by it or by lists before it, or only what is new.
    // May be empty.
    std::function<void(bool everything)> opened = {};
    // Every time that a watch or list ended for a bad reason, or brought what is no message. May be
    // empty.
    std::function<void()> failed = {};
  };
  Reflector(net::EventLoop& loop, ApiClient& api, Collection collection, Callbacks callbacks,
            const ReflectorTiming& timing = {});
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  [[nodiscard]] bool synced() const { return synced_; }
  // Everything is told anew, as it is now or later; until then it counts as not synced.
  void TellAnew();
  // For an optional collection: where its kind is from now on; empty: nowhere.
  void MoveTo(const std::string& path);
  [[nodiscard]] const std::string& resource_version() const { return version_; }
  // Objects and events that were left out because they could not be read.
  [[nodiscard]] std::uint64_t undecodable() const { return undecodable_; }

 private:
  class Sink;

  void Open();
  void OpenWatch();
  void Begin();
  [[nodiscard]] std::string Query() const;
  [[nodiscard]] std::string Selection() const;
  void AwaitEnd(Duration wait);
  void OnBadList(const Error& error);
  bool Reach(const std::string& version);
  void AskPage(const std::string& continue_token);
  void SendForPage(const std::string& continue_token);
  void OnNoPage(const std::string& continue_token, const Error& error, Duration took);
  void OnPage(Response response);
  void TakePage(const Response& page, bool next_is_asked_for);
  struct Taking {
    k8s::ObjectList list;
    std::size_t next = 0;  // object
    bool next_is_asked_for = false;
  };
  void TakeSome();
  void OnPageTaken(const Taking& page);
  void OnLetIn();
  void OnFrame(std::string_view frame, bool json);
  void Take(k8s::ChangeType type, k8s::ReceivedObject object);
  void TakeRefused(k8s::ChangeType type, const k8s::RefusedObject& refused);
  void SayRefused(const std::string& name, const k8s::RefusedObject& refused);
  bool IsNews(const k8s::RefusedObject& refused);
  void OnUndecodable(const Error& error);
  void OnEvent(k8s::ObjectChange change);
  void OnEvent(const k8s::Bookmark& bookmark);
  void OnEvent(const k8s::ApiStatus& status);
  void OnUpserted(k8s::Object object);
  void LeaveOut(const std::string& key);
  void OnDeleted(const k8s::Object& object);
  void OnInitialEnd();
  void OnBroken(const Error& error);
  void EndSoon();
  void OnWatchEnd(const Status& outcome, int status, const std::string& refusal);
  void OnEnd(const Status& outcome, int status, const std::string& refusal);
  void OnMissing();
  void OnForgotten();
  void OpenLater();
  void CountFailure();
  void Say(const Error& error);

  net::EventLoop& loop_;
  ApiClient& api_;
  Collection collection_;
  Callbacks callbacks_;
  ApiClient::StreamId stream_ = 0;
  std::string version_;  // empty: everything must be told
  std::string latest_;   // of all since everything was told
  PageCount pages_;
  PageSize page_size_;
  bool busy_ = false;  // with a page
  Taking taking_;
  std::optional<Response> waiting_;  // the page after it
  bool synced_ = false;
  bool located_;  // it is known where the kind is, or that it is nowhere
  bool telling_all_ = false;
  bool paging_ = false;  // the newest attempt to be told everything is by pages
  bool is_pods_ = false;
  std::uint64_t round_ = 0;  // of telling everything
  struct Known {
    std::string uid;
    // Nobody asks what a pod or a node was like that has gone, and there are many of them.
    std::unique_ptr<const k8s::Object> object;
    std::uint64_t round = 0;
  };
  void Forget(const std::string& key, const Known& known);
  std::map<std::string, Known> known_;  // by namespace/name
  // Why objects were refused, by uid, so that what is wrong with one is news once.
  std::map<std::string, std::string> refusals_;
  ReflectorTiming timing_;
  net::Backoff backoff_;
  bool let_in_ = false;        // the server has answered that the watch begins
  bool ending_ = false;        // we end the watch ourselves
  bool brought_news_ = false;  // the watch that is open, after everything was told
  bool forgotten_ = false;     // by the server: from where we want to go on
  int early_ends_ = 0;         // of watches, by the server, in a row
  int forgotten_in_a_row_ = 0;
  Time opened_;
  std::uint64_t undecodable_ = 0;
  std::string said_;  // and when
  Time said_at_, undecodable_said_at_;
  Time heard_;  // of an object, or the begin
  net::EventLoop::TimerId retry_, silence_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
