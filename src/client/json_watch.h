// A watch in JSON, as servers send it for kinds that have no protobuf: one event a line. And lists
// of such kinds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "k8s/read_proto.h"

namespace knx::client {

// Takes the lines apart, in whatever pieces they come. The counterpart of k8s::FrameSplitter.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t longest) : longest_(longest) {}

  void Append(std::string_view bytes);
  // The next line that is not empty; nothing until more comes. An error is final.
  Result<std::optional<std::string_view>> Next();

 private:
  std::size_t longest_;
  std::string buffer_;
  std::size_t at_ = 0, looked_at_ = 0;
};

// As k8s::ReadProtoEvent and k8s::ReadProtoList.
Result<k8s::WatchEvent> ReadJsonEvent(std::string_view line);
Result<k8s::ObjectList> ReadJsonList(std::string_view body);

}  // namespace knx::client
