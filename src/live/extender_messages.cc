#include "live/extender_messages.h"

#include <absl/strings/ascii.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <set>

#include "base/quoted_text.h"
#include "base/shortened.h"

namespace knx::live {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

// ---- reading ----

std::string_view KindOf(element value) {
  switch (value.type()) {
    case element_type::ARRAY:
      return "array";
    case element_type::OBJECT:
      return "object";
    case element_type::STRING:
      return "string";
    case element_type::BOOL:
      return "bool";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "number";
  }
}

// In the words of Go's decoder, which is what people find in kube-scheduler's conditions.
Error NoJson(std::string_view body, simdjson::error_code error) {
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return InvalidError("EOF");
  const std::string_view text = body.substr(begin);
  constexpr std::string_view kBegins = "{[\"tfn-0123456789";
  if (kBegins.find(text.front()) == std::string_view::npos) {
    return InvalidError(fmt::format("invalid character {} looking for beginning of value",
                                    Printable(fmt::format("'{}'", text.front()))));
  }
  return InvalidError(fmt::format("no JSON: {}", simdjson::error_message(error)));
}

// One answer, read field by field. The first thing that is wrong counts.
class AnswerReader {
 public:
  AnswerReader(std::string_view body, std::string_view type) : type_(type) {
    if (const auto error = parser_.parse(body.data(), body.size()).get(root_)) {
      failure_ = NoJson(body, error);
    }
  }

  // Calls visit(name, value) for each field; null says nothing, as in Go.
  template <class Visit>
  void Fields(element value, std::string_view where, Visit visit) {
    object fields;
    if (value.get(fields) != simdjson::SUCCESS) return Wrong(value, where);
    for (const auto& [name, field] : fields) {
      if (!field.is_null()) visit(std::string_view(name), field);
    }
  }
  template <class Visit>
  void Items(element value, std::string_view where, Visit visit) {
    array items;
    if (value.get(items) != simdjson::SUCCESS) return Wrong(value, where);
    for (const element item : items) {
      if (!item.is_null()) visit(item);
    }
  }
  void Text(element value, std::string_view where, std::string& out) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return Wrong(value, where);
    out = text;
  }
  void Number(element value, std::string_view where, std::int64_t& out) {
    std::int64_t number = 0;
    if (!value.is_int64() || value.get(number) != simdjson::SUCCESS) return Wrong(value, where);
    out = number;
  }
  // No node has a longer name: what is cut is that of none.
  void Name(element value, std::string_view where, std::string& out) {
    Text(value, where, out);
    out = Shortened(out, kLongestName);
  }
  void Reasons(element value, std::string_view where, engine::ExtenderAnswer::Texts& out) {
    std::map<std::string, std::string> texts;
    Fields(value, where, [&](std::string_view name, element text) {
      std::string& reason = texts[Shortened(name, kLongestName)];
      Text(text, where, reason);
      reason = Bounded(Shortened(reason, kLongestReason));
    });
    out.assign(texts.begin(), texts.end());
  }

  void Wrong(element value, std::string_view where) {
    if (failure_) return;
    failure_ = InvalidError(
        where.empty() ? fmt::format("json: cannot unmarshal {} into Go value of type v1.{}",
                                    KindOf(value), type_)
                      : fmt::format("json: cannot unmarshal {} into Go struct field {}",
                                    KindOf(value), where));
  }
  void Fail(std::string_view message) {
    if (!failure_) failure_ = InvalidError(Shortened(message, kLongestError));
  }
  [[nodiscard]] bool readable() const { return !failure_; }
  [[nodiscard]] element root() const { return root_; }
  [[nodiscard]] bool empty() const { return root_.is_null(); }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  // Most extenders have the same few for all nodes.
  std::string Bounded(std::string reason) {
    if (reasons_.contains(reason)) return reason;
    if (reasons_size_ + reason.size() > kMostReasons) return std::string(kOtherReason);
    reasons_size_ += reason.size();
    return *reasons_.insert(std::move(reason)).first;
  }

  std::string_view type_;
  simdjson::dom::parser parser_;
  element root_;
  std::optional<Error> failure_;
  std::set<std::string> reasons_;
  std::size_t reasons_size_ = 0;
};

bool Is(std::string_view name, std::string_view wanted) {
  const auto lower = [](char c) { return absl::ascii_tolower(static_cast<unsigned char>(c)); };
  return std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

Result<engine::ExtenderAnswer> Ended(const AnswerReader& reader, engine::ExtenderAnswer answer) {
  if (reader.failure()) return *reader.failure();
  return answer;
}

void ReadNodeNames(AnswerReader& reader, element list, std::vector<std::string>& out) {
  reader.Fields(list, "ExtenderFilterResult.Nodes", [&](std::string_view name, element items) {
    if (!Is(name, "items")) return;
    reader.Items(items, "NodeList.items", [&](element node) {
      std::string& known = out.emplace_back();
      reader.Fields(node, "NodeList.items", [&](std::string_view field, element meta) {
        if (!Is(field, "metadata")) return;
        reader.Fields(meta, "Node.metadata", [&](std::string_view key, element value) {
          if (Is(key, "name")) reader.Name(value, "ObjectMeta.name", known);
        });
      });
    });
  });
}

}  // namespace

// ---- writing ----

std::string WriteNodes(const NodesMessage& message) {
  std::string out = fmt::format(R"({{"Pod":{},"Nodes":)", message.pod);
  std::string_view between;
  if (message.names_only) {
    out += R"(null,"NodeNames":[)";
    for (const std::string& name : message.names) {
      out += between;
      out += QuotedText(name);
      between = ",";
    }
    return out + "]}";
  }
  out += R"({"metadata":{},"items":[)";
  for (const std::string* document : message.documents) {
    out += between;
    out += *document;
    between = ",";
  }
  return out + R"(]},"NodeNames":null})";
}

std::string WriteVictims(std::string_view pod, const std::vector<engine::AskExtender::Victims>& on,
                         const std::map<std::string, std::string>* documents) {
  std::string nodes;
  for (const engine::AskExtender::Victims& victims : on) {
    std::string pods;
    for (const engine::PodRef& victim : victims.pods) {
      if (documents == nullptr) {
        pods += fmt::format(R"({}{{"UID":{}}})", pods.empty() ? "" : ",", QuotedText(victim.uid));
      } else if (const auto known = documents->find(victim.uid); known != documents->end()) {
        pods += fmt::format("{}{}", pods.empty() ? "" : ",", known->second);
      }
    }
    nodes += fmt::format(R"({}{}:{{"Pods":[{}],"NumPDBViolations":{}}})", nodes.empty() ? "" : ",",
                         QuotedText(victims.node), pods, victims.violations);
  }
  return documents == nullptr
             ? fmt::format(
                   R"({{"Pod":{},"NodeNameToVictims":null,"NodeNameToMetaVictims":{{{}}}}})", pod,
                   nodes)
             : fmt::format(
                   R"({{"Pod":{},"NodeNameToVictims":{{{}}},"NodeNameToMetaVictims":null}})", pod,
                   nodes);
}

std::string WriteBinding(const engine::BindByExtender& bind) {
  return fmt::format(R"({{"PodName":{},"PodNamespace":{},"PodUID":{},"Node":{}}})",
                     QuotedText(bind.pod.name), QuotedText(bind.pod.namespace_),
                     QuotedText(bind.pod.uid), QuotedText(bind.node));
}

// ---- answers ----

Result<engine::ExtenderAnswer> ReadFilterAnswer(std::string_view body, bool names_only) {
  AnswerReader reader(body, "ExtenderFilterResult");
  engine::ExtenderAnswer answer;
  std::string error;
  std::optional<std::vector<std::string>> named, sent;
  if (reader.readable() && !reader.empty()) {
    reader.Fields(reader.root(), "", [&](std::string_view name, element value) {
      if (Is(name, "Nodes")) {
        ReadNodeNames(reader, value, sent.emplace());
      } else if (Is(name, "NodeNames")) {
        named.emplace();
        reader.Items(value, "ExtenderFilterResult.NodeNames of type []string", [&](element item) {
          reader.Name(item, "ExtenderFilterResult.NodeNames of type string", named->emplace_back());
        });
      } else if (Is(name, "FailedNodes")) {
        reader.Reasons(value, "ExtenderFilterResult.FailedNodes of type string", answer.failed);
      } else if (Is(name, "FailedAndUnresolvableNodes")) {
        reader.Reasons(value, "ExtenderFilterResult.FailedAndUnresolvableNodes of type string",
                       answer.unresolvable);
      } else if (Is(name, "Error")) {
        reader.Text(value, "ExtenderFilterResult.Error of type string", error);
      }
    });
  }
  if (!error.empty()) reader.Fail(error);
  if (names_only && named) {
    answer.nodes = *std::move(named);
  } else if (sent) {
    answer.nodes = *std::move(sent);
  }
  return Ended(reader, std::move(answer));
}

Result<engine::ExtenderAnswer> ReadScores(std::string_view body) {
  AnswerReader reader(body, "HostPriorityList");
  engine::ExtenderAnswer answer;
  if (reader.readable() && !reader.empty()) {
    reader.Items(reader.root(), "", [&](element item) {
      auto& [host, score] = answer.scores.emplace_back();
      reader.Fields(item, "HostPriorityList", [&](std::string_view name, element value) {
        if (Is(name, "Host")) reader.Text(value, "HostPriority.Host of type string", host);
        if (Is(name, "Score")) reader.Number(value, "HostPriority.Score of type int64", score);
      });
    });
  }
  return Ended(reader, std::move(answer));
}

Result<engine::ExtenderAnswer> ReadVictims(std::string_view body) {
  AnswerReader reader(body, "ExtenderPreemptionResult");
  std::map<std::string, engine::ExtenderAnswer::Victims> by_node;
  const auto read_victims = [&](std::string_view node, element value) {
    const std::string known = Shortened(node, kLongestName);
    engine::ExtenderAnswer::Victims& victims = by_node[known];
    victims = {known, {}, 0};
    reader.Fields(value, "MetaVictims", [&](std::string_view name, element field) {
      if (Is(name, "NumPDBViolations")) {
        reader.Number(field, "MetaVictims.NumPDBViolations of type int64", victims.violations);
      }
      if (!Is(name, "Pods")) return;
      reader.Items(field, "MetaVictims.Pods of type []*v1.MetaPod", [&](element pod) {
        std::string& uid = victims.uids.emplace_back();
        reader.Fields(pod, "MetaPod", [&](std::string_view key, element text) {
          if (Is(key, "UID")) reader.Name(text, "MetaPod.UID of type string", uid);
        });
      });
    });
  };
  if (reader.readable() && !reader.empty()) {
    reader.Fields(reader.root(), "", [&](std::string_view name, element value) {
      if (!Is(name, "NodeNameToMetaVictims")) return;
      reader.Fields(value, "ExtenderPreemptionResult.NodeNameToMetaVictims", read_victims);
    });
  }
  engine::ExtenderAnswer answer;
  for (auto& [node, victims] : by_node) answer.victims.push_back(std::move(victims));
  return Ended(reader, std::move(answer));
}

Status ReadBindingAnswer(std::string_view body) {
  AnswerReader reader(body, "ExtenderBindingResult");
  std::string error;
  if (reader.readable() && !reader.empty()) {
    reader.Fields(reader.root(), "", [&](std::string_view name, element value) {
      if (Is(name, "Error"))
        reader.Text(value, "ExtenderBindingResult.Error of type string", error);
    });
  }
  if (reader.failure()) return *reader.failure();
  return error.empty() ? Ok() : Status(InvalidError(Shortened(error, kLongestError)));
}

}  // namespace knx::live
