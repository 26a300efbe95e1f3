#include "k8s/read_proto.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "k8s/object_time.h"
#include "k8s/proto_frames.h"
#include "k8s/read_json.h"
#include "k8s/read_object.h"

namespace knx::k8s {
namespace {

using namespace std::string_literals;

// ---- protobuf by hand ----

std::string Varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7F));
  return out + static_cast<char>(value);
}
std::string Number(int field, std::int64_t value) {
  return Varint(static_cast<std::uint64_t>(field) << 3) + Varint(static_cast<std::uint64_t>(value));
}
// A text or a message.
std::string Bytes(int field, std::string_view value) {
  return Varint(static_cast<std::uint64_t>(field) << 3 | 2) + Varint(value.size()) +
         std::string(value);
}
std::string Entry(int field, std::string_view key, std::string_view value) {
  return Bytes(field, Bytes(1, key) + Bytes(2, value));
}
std::string Enveloped(std::string_view api_version, std::string_view kind, std::string_view raw) {
  return "k8s\0"s + Bytes(1, Bytes(1, api_version) + Bytes(2, kind)) + Bytes(2, raw) +
         Bytes(3, "") + Bytes(4, "");
}
std::string Meta(std::string_view name) { return Bytes(1, Bytes(1, name) + Bytes(6, "42")); }
std::string PodOf(std::string_view spec) { return Meta("a") + Bytes(2, spec) + Bytes(3, ""); }
const std::string kContainer = Bytes(2, Bytes(1, "c"));

Result<Object> ReadPod(std::string_view spec) {
  return ReadProtoObject(Enveloped("v1", "Pod", PodOf(spec)));
}

std::string FileText(const std::string& path) {
  std::ifstream in(KNX_SOURCE_DIR "/tests/" + path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// ---- objects ----

TEST(ReadProtoObject, ReadsWhatKubernetesWroteAsItsJson) {
  const Result<Object> proto = ReadProtoObject(FileText("corpus/read_proto_fuzz/pod"));
  const Result<Object> json = ReadJsonObject(FileText("guard/pod.json"));
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  ASSERT_TRUE(proto.ok()) << proto.error().ToString();
  EXPECT_TRUE(*proto == *json);
}

TEST(ReadProtoObject, TakesEmptyPlainValuesForAbsent) {
  // Kubernetes writes them all.
  const Result<Object> object =
      ReadPod(kContainer + Bytes(10, "") + Number(11, 0) + Bytes(19, "") + Bytes(24, ""));
  ASSERT_TRUE(object.ok()) << object.error().ToString();
  const PodSpec& spec = std::get<Pod>(*object).spec;
  EXPECT_EQ(spec.scheduler_name, "default-scheduler");
  EXPECT_FALSE(spec.priority);
  EXPECT_TRUE(spec.host_users);
}

TEST(ReadProtoObject, KeepsEmptyValuesThatAreSet) {
  const Result<Object> object = ReadPod(kContainer + Number(25, 0) + Number(37, 0) + Number(4, 0));
  ASSERT_TRUE(object.ok()) << object.error().ToString();
  const PodSpec& spec = std::get<Pod>(*object).spec;
  EXPECT_EQ(spec.priority, 0);
  EXPECT_FALSE(spec.host_users);
  EXPECT_EQ(spec.termination_grace_seconds, 0);
}

TEST(ReadProtoObject, ReadsTheGroupOfAPod) {
  const auto group = [](const std::string& field) {
    const Result<Object> object = ReadPod(kContainer + field);
    return object.ok() ? std::get<Pod>(*object).spec.pod_group : PodGroupReference{"error", "", ""};
  };
  EXPECT_EQ(group(Bytes(43, Bytes(1, "train"))), (PodGroupReference{"", "train", ""}));
  EXPECT_EQ(group(Bytes(43, "")), std::nullopt);
  const std::string workers = Bytes(1, "job") + Bytes(2, "workers");
  EXPECT_EQ(group(Bytes(42, workers + Bytes(3, ""))), (PodGroupReference{"job", "workers", ""}));
  EXPECT_EQ(group(Bytes(42, workers + Bytes(3, "7"))), (PodGroupReference{"job", "workers", "7"}));
}

TEST(ReadProtoObject, RefusesKindsThatAreReadInJsonOnly) {
  for (const char* version : {"scheduling.k8s.io/v1beta1", "scheduling.x-k8s.io/v1alpha1"}) {
    EXPECT_FALSE(ReadProtoObject(Enveloped(version, "PodGroup", Bytes(1, Bytes(1, "g")))).ok());
  }
}

TEST(ReadProtoObject, SkipsWhatItDoesNotKnow) {
  const std::string unknown =
      Number(46, 7) + Bytes(1000, "x") + "\xFD\x02\x01\x02\x03\x04"s + "\x9B\x06\x08\x01\x9C\x06"s;
  const Result<Object> object = ReadPod(unknown + kContainer + unknown);
  ASSERT_TRUE(object.ok()) << object.error().ToString();
  EXPECT_EQ(std::get<Pod>(*object).spec.containers.size(), 1U);
}

TEST(ReadProtoObject, FindsItemsOfAListBetweenOtherFields) {
  const Result<Object> object =
      ReadPod(kContainer + Bytes(10, "n") + Bytes(2, Bytes(1, "d")) + Bytes(10, "m"));
  ASSERT_TRUE(object.ok()) << object.error().ToString();
  const PodSpec& spec = std::get<Pod>(*object).spec;
  ASSERT_EQ(spec.containers.size(), 2U);
  EXPECT_EQ(spec.containers[1].name, "d");
  EXPECT_EQ(spec.node_name, "m") << "of a plain value the last one counts";
}

TEST(ReadProtoObject, SortsMapsAndRoundsAmounts) {
  const auto amount = [](std::string_view text) { return Bytes(1, text); };
  const std::string requests = Entry(2, "memory", amount("1Gi")) + Entry(2, "cpu", amount("1u"));
  const Result<Object> object =
      ReadPod(Bytes(2, Bytes(1, "c") + Bytes(8, requests)) + Entry(7, "z", "1") +
              Entry(7, "a", "") + Bytes(7, Bytes(1, "m")));
  ASSERT_TRUE(object.ok()) << object.error().ToString();
  const PodSpec& spec = std::get<Pod>(*object).spec;
  EXPECT_EQ(spec.node_selector, (StringMap{{"a", ""}, {"m", ""}, {"z", "1"}}));
  EXPECT_EQ(
      spec.containers[0].resources.requests,
      (ResourceList{{"cpu", Quantity::FromMilli(1)}, {"memory", Quantity::FromUnits(1 << 30)}}));
}

TEST(ReadProtoObject, MendsTextsAsGoDoes) {
  struct Case {
    std::string bytes, want;
  };
  const Case cases[] = {
      {"caf\xC3\xA9 and more text", "caf\xC3\xA9 and more text"},
      {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
      {"a\xFFz", "a\xEF\xBF\xBDz"},
      {"\xE2\x82", "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xED\xA0\x80 is half of a pair", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD is half of a pair"},
      {"\xC3", "\xEF\xBF\xBD"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    const Result<Object> object = ReadPod(kContainer + Bytes(10, c.bytes));
    ASSERT_TRUE(object.ok()) << object.error().ToString();
    EXPECT_EQ(std::get<Pod>(*object).spec.node_name, c.want);
  }
}

TEST(ReadProtoObject, ReadsTimes) {
  const auto pod = [](std::string_view time) {
    return Enveloped("v1", "Pod", Bytes(1, Bytes(1, "a") + Bytes(8, time)) + Bytes(2, kContainer));
  };
  const auto created = [&](std::string_view time) {
    const Result<Object> object = ReadProtoObject(pod(time));
    EXPECT_TRUE(object.ok());
    return std::get<Pod>(*object).meta.created;
  };
  EXPECT_EQ(created(""), std::nullopt);
  EXPECT_EQ(created(Number(1, 0) + Number(2, 0)), Time{0});
  EXPECT_EQ(created(Number(1, -1) + Number(2, 999)), Time{-1'000'000'000});
}

// 9,000,000,000 seconds of grace end in the year 2311.
TEST(ReadProtoObject, TakesTimesThatAreTooFarAwayForTheNearestAsJsonDoes) {
  struct Case {
    std::string_view text;
    std::int64_t seconds;
    Time want;
  };
  const Case cases[] = {
      {"1899-12-31T23:59:59Z", -2'208'988'801, kEarliestTime},
      {"1900-01-01T00:00:01Z", -2'208'988'799, kEarliestTime + Duration::Seconds(1)},
      {"2199-12-31T23:59:59Z", 7'258'118'399, kLatestTime - Duration::Seconds(1)},
      {"2311-03-14T16:00:00Z", 10'767'139'200, kLatestTime},
      {"0001-01-01T00:00:00Z", -62'135'596'800, kEarliestTime},
      {"9999-12-31T23:59:59Z", 253'402'300'799, kLatestTime},
      {"9999-12-31T23:59:59Z", INT64_MAX, kLatestTime},
      {"0000-01-01T00:00:00Z", INT64_MIN, kEarliestTime},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<Object> proto = ReadProtoObject(
        Enveloped("v1", "Pod",
                  Bytes(1, Bytes(1, "a") + Bytes(9, Number(1, c.seconds))) + Bytes(2, kContainer)));
    ASSERT_TRUE(proto.ok()) << proto.error().ToString();
    EXPECT_EQ(std::get<Pod>(*proto).meta.deleted, c.want);
    const std::string json = fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a","deletionTimestamp":"{}"}},)"
        R"("spec":{{"containers":[{{"name":"c"}}]}}}})",
        c.text);
    const auto fast = ReadJsonFast(json);
    ASSERT_TRUE(fast.has_value());
    EXPECT_EQ(std::get<Pod>(*fast).meta.deleted, c.want);
    const auto read = ReadManifests(json, "f.yaml");
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ(std::get<Pod>(read->at(0).object).meta.deleted, c.want);
  }
}

TEST(ReadProtoObject, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string name, body, error;
  };
  const auto pod = [](std::string_view spec) { return Enveloped("v1", "Pod", PodOf(spec)); };
  const std::string negative = Entry(2, "cpu", Bytes(1, "-1"));
  const Case cases[] = {
      {"nothing", "", "not protobuf of Kubernetes: it does not begin with \"k8s\""},
      {"JSON", "{}", "not protobuf of Kubernetes: it does not begin with \"k8s\""},
      {"an empty envelope", "k8s\0"s, "typeMeta: missing, but required"},
      {"a broken envelope", "k8s\0\x0A\x05"s, "not valid protobuf"},
      {"compressed", "k8s\0"s + Bytes(1, Bytes(1, "v1") + Bytes(2, "Pod")) + Bytes(3, "gzip"),
       "contentEncoding: \"gzip\" is not known"},
      {"JSON within",
       "k8s\0"s + Bytes(1, Bytes(1, "v1") + Bytes(2, "Pod")) + Bytes(4, "application/json"),
       "contentType: \"application/json\" is not application/vnd.kubernetes.protobuf"},
      {"another kind", Enveloped("v1", "Secret", ""),
       "\"Secret\" of apiVersion \"v1\" is not known"},
      {"no metadata", Enveloped("v1", "Pod", ""), "metadata: missing, but required"},
      {"no name", Enveloped("v1", "Pod", Bytes(1, "")), "metadata.name: missing, but required"},
      {"no container", pod(""), "spec.containers: a pod needs at least one container"},
      {"a broken container", pod(Bytes(2, "\x0A\x7F")), "spec.containers[0]: not valid protobuf"},
      {"a number for a text", pod(kContainer + Number(10, 1)), "spec.nodeName: not valid protobuf"},
      {"a text for a number", pod(kContainer + Bytes(25, "1")),
       "spec.priority: not valid protobuf"},
      {"a number for a message", pod(kContainer + Number(18, 1)),
       "spec.affinity: not valid protobuf"},
      {"a number in a list of messages", pod(kContainer + Number(2, 1)),
       "spec.containers: not valid protobuf"},
      {"a message twice", pod(kContainer + Bytes(18, "") + Bytes(18, "")),
       "spec.affinity: is here twice"},
      {"a large number", pod(kContainer + Number(25, std::int64_t{1} << 31)),
       "spec.priority: 2147483648 is out of range, allowed is -2147483648 to 2147483647"},
      {"a port", pod(kContainer + Bytes(2, Bytes(1, "d") + Bytes(6, Number(3, 70000)))),
       "spec.containers[1].ports[0].containerPort: 70000 is out of range, allowed is 1 to 65535"},
      {"a negative amount", pod(Bytes(2, Bytes(1, "c") + Bytes(8, negative))),
       "spec.containers[0].resources.requests: cpu must not be negative, but is -1"},
      {"a key twice", pod(kContainer + Entry(7, "k", "1") + Entry(7, "k", "2")),
       "spec.nodeSelector: the key \"k\" is here twice"},
      {"a broken entry", pod(kContainer + Bytes(7, "\x0A\x7F")),
       "spec.nodeSelector: not valid protobuf"},
      {"a word", pod(kContainer + Bytes(31, "Perhaps")),
       "spec.preemptionPolicy: \"Perhaps\" is not allowed; allowed are PreemptLowerPriority, "
       "Never"},
      {"a broken source of a volume", pod(kContainer + Bytes(1, Bytes(1, "v") + Bytes(2, "\x0A"))),
       "spec.volumes[0]: not valid protobuf"},
      {"two sources of a volume", pod(kContainer + Bytes(1, Bytes(2, "") + Bytes(2, ""))),
       "spec.volumes[0]: not valid protobuf"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<Object> object = ReadProtoObject(c.body);
    ASSERT_FALSE(object.ok());
    EXPECT_EQ(object.error().ToString(), c.error);
  }
}

TEST(ReadProtoObject, RefusesOrReadsEveryPartOfAnObject) {
  const std::string whole = FileText("corpus/read_proto_fuzz/stateful_set");
  ASSERT_TRUE(ReadProtoObject(whole).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> exact(whole.begin(), whole.begin() + static_cast<int>(size));
    static_cast<void>(ReadProtoObject(std::string_view(exact.data(), exact.size())));
  }
}

// ---- what objects come in ----

TEST(ReadProtoList, KeepsTheGoodItemsBesideTheBad) {
  const std::string bad = Bytes(1, Bytes(1, "b") + Bytes(3, "ns") + Bytes(5, "u") + Bytes(6, "7"));
  const std::string raw = Bytes(1, Bytes(2, "100") + Bytes(3, "more")) +
                          Bytes(2, PodOf(kContainer)) + Bytes(2, bad) + Bytes(2, "\x0A") +
                          Bytes(2, PodOf(kContainer));
  const Result<ObjectList> list = ReadProtoList(Enveloped("v1", "PodList", raw));
  ASSERT_TRUE(list.ok()) << list.error().ToString();
  EXPECT_EQ(list->resource_version, "100");
  EXPECT_EQ(list->continue_token, "more");
  ASSERT_EQ(list->items.size(), 4U);
  EXPECT_TRUE(std::holds_alternative<Object>(list->items[0].read));
  EXPECT_EQ(list->items[0].resource_version, "42");
  EXPECT_EQ(list->items[1].resource_version, "7");
  const auto& refused = std::get<RefusedObject>(list->items[1].read);
  EXPECT_EQ(refused.kind, "Pod");
  EXPECT_EQ(refused.api_version, "v1");
  EXPECT_EQ(refused.namespace_, "ns");
  EXPECT_EQ(refused.name, "b");
  EXPECT_EQ(refused.uid, "u");
  EXPECT_EQ(refused.why.ToString(), "spec: missing, but required");
  EXPECT_EQ(std::get<RefusedObject>(list->items[2].read).name, "");
  EXPECT_TRUE(std::holds_alternative<Object>(list->items[3].read));
}

TEST(ReadProtoListMeta, ReadsNothingOfTheItems) {
  const std::string raw = Bytes(1, Bytes(2, "100") + Bytes(3, "more")) + Bytes(2, "\x0A");
  const Result<ListMeta> meta = ReadProtoListMeta(Enveloped("v1", "PodList", raw));
  ASSERT_TRUE(meta.ok()) << meta.error().ToString();
  EXPECT_EQ(meta->resource_version, "100");
  EXPECT_EQ(meta->continue_token, "more");
  EXPECT_FALSE(ReadProtoListMeta(Enveloped("v1", "Pod", raw)).ok());
  EXPECT_FALSE(ReadProtoListMeta("no envelope").ok());
}

TEST(ReadProtoList, RefusesWhatIsNoListOfOneKind) {
  EXPECT_FALSE(ReadProtoList(Enveloped("v1", "Pod", PodOf(kContainer))).ok());
  EXPECT_FALSE(ReadProtoList(Enveloped("v1", "List", "")).ok());
  EXPECT_FALSE(ReadProtoList(Enveloped("v1", "PodList", "\x0A")).ok());
  EXPECT_TRUE(ReadProtoList(Enveloped("v1", "PodList", "")).ok());
}

TEST(ReadProtoList, RefusesMoreItemsThanAnyClusterHas) {
  std::string raw;
  for (std::size_t i = 0; i <= kMaxListItems; ++i) raw += Bytes(2, "");
  const Result<ObjectList> list = ReadProtoList(Enveloped("v1", "PodList", raw));
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().ToString(), "items: 1000001 are too many, at most 1000000 are allowed");
}

std::string Event(std::string_view type, std::string_view object) {
  return Bytes(1, type) + Bytes(2, Bytes(1, object));
}

TEST(ReadProtoEvent, ReadsChanges) {
  constexpr std::pair<std::string_view, ChangeType> kCases[] = {{"ADDED", ChangeType::kAdded},
                                                                {"MODIFIED", ChangeType::kModified},
                                                                {"DELETED", ChangeType::kDeleted}};
  for (const auto& [word, type] : kCases) {
    const Result<WatchEvent> event =
        ReadProtoEvent(Event(word, Enveloped("v1", "Pod", PodOf(kContainer))));
    ASSERT_TRUE(event.ok()) << event.error().ToString();
    const auto& change = std::get<ObjectChange>(*event);
    EXPECT_EQ(change.type, type);
    EXPECT_EQ(change.object.resource_version, "42");
    EXPECT_EQ(std::get<Pod>(std::get<Object>(change.object.read)).meta.name, "a");
  }
}

TEST(ReadProtoEvent, ReadsBookmarksAndErrors) {
  const std::string plain = Bytes(1, Bytes(6, "99"));
  const std::string last =
      Bytes(1, Bytes(6, "99") + Entry(12, "k8s.io/initial-events-end", "true"));
  const std::string status = Bytes(2, "Failure") + Bytes(3, "too old") + Bytes(4, "Expired") +
                             Bytes(5, Number(5, 3)) + Number(6, 410);
  struct Case {
    std::string_view name;
    std::string frame;
    WatchEvent want;
  };
  const Case cases[] = {
      {"a bookmark", Event("BOOKMARK", Enveloped("v1", "Node", plain)), Bookmark{"99", false}},
      {"the last of the first", Event("BOOKMARK", Enveloped("v1", "Pod", last)),
       Bookmark{"99", true}},
      {"an error", Event("ERROR", Enveloped("v1", "Status", status)),
       ApiStatus{410, "Expired", "too old", 3}},
      {"an error that says nothing", Event("ERROR", Enveloped("v1", "Status", "")), ApiStatus{}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<WatchEvent> event = ReadProtoEvent(c.frame);
    ASSERT_TRUE(event.ok()) << event.error().ToString();
    ASSERT_EQ(event->index(), c.want.index());
    if (const auto* mark = std::get_if<Bookmark>(&c.want)) {
      EXPECT_EQ(std::get<Bookmark>(*event), *mark);
    } else {
      EXPECT_EQ(std::get<ApiStatus>(*event), std::get<ApiStatus>(c.want));
    }
  }
}

TEST(ReadProtoEvent, RefusesWhatItCannotTell) {
  const std::string pod = Enveloped("v1", "Pod", PodOf(kContainer));
  const std::pair<std::string, std::string> cases[] = {
      {"", "type: missing, but required"},
      {Bytes(1, "ADDED"), "object: missing, but required"},
      {Event("ADDED", "{}"), "not protobuf of Kubernetes: it does not begin with \"k8s\""},
      {Event("LATER", pod), "\"LATER\" is not a type of event"},
      {Event("ERROR", pod), "\"Pod\" is not a Status"},
      {Event("BOOKMARK", Enveloped("v1", "Pod", "")), "a bookmark without resourceVersion"},
  };
  for (const auto& [frame, error] : cases) {
    SCOPED_TRACE(error);
    const Result<WatchEvent> event = ReadProtoEvent(frame);
    ASSERT_FALSE(event.ok());
    EXPECT_EQ(event.error().ToString(), error);
  }
}

// ---- frames ----

TEST(FrameSplitter, FindsFramesInPiecesOfAnySize) {
  const std::string stream = "\0\0\0\3abc\0\0\0\0\0\0\1\0"s + std::string(256, 'x');
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameSplitter splitter;
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      splitter.Append(std::string_view(stream).substr(at, piece));
      for (auto frame = splitter.Next(); frame.ok() && *frame; frame = splitter.Next()) {
        frames.emplace_back(**frame);
      }
    }
    EXPECT_EQ(frames, (std::vector<std::string>{"abc", "", std::string(256, 'x')}));
    EXPECT_TRUE(splitter.empty());
  }
}

TEST(FrameSplitter, RefusesAFrameThatIsTooLarge) {
  FrameSplitter splitter(10);
  splitter.Append("\0\0\0\x0A"s + "0123456789" + "\0\0\0\x0B"s);
  EXPECT_EQ(**splitter.Next(), "0123456789");
  EXPECT_FALSE(splitter.Next().ok());
  EXPECT_FALSE(splitter.Next().ok());
  EXPECT_FALSE(splitter.empty());
}

}  // namespace
}  // namespace knx::k8s
