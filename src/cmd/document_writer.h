// What a result is written to, whatever its form: maps, lists, texts and numbers, in order.
// The caller keeps the order of calls sensible (a key before every value of a map); nothing is
// checked beyond that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace knx::cmd {

class DocumentWriter {
 public:
  virtual ~DocumentWriter() = default;

  virtual void BeginMap() = 0;
  virtual void EndMap() = 0;
  virtual void BeginList() = 0;
  virtual void EndList() = 0;
  virtual void Key(std::string_view key) = 0;
  virtual void Text(std::string_view text) = 0;
  // A number, true, false or null, as it is to be written.
  virtual void Literal(std::string_view literal) = 0;

  void Number(std::int64_t number);
  void Number(std::uint64_t number);
  void Bool(bool value) { Literal(value ? "true" : "false"); }
  // Exactly: 12.003 for 12 s and 3 ms.
  void Seconds(Duration span);
  // The same for cores.
  void Thousandths(std::int64_t number);
};

// A key with its value.
void Put(DocumentWriter& out, std::string_view key, std::string_view text);
void Put(DocumentWriter& out, std::string_view key, std::int64_t number);
void PutBool(DocumentWriter& out, std::string_view key, bool value);

}  // namespace knx::cmd
