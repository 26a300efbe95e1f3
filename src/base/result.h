// A value or the reason why there is none.
// For what may go wrong outside of us: bad input, a refused call, a lost connection. A node that
// does not fit is no error (that is a Verdict), and a bug of ours is no error either (that is
// KNX_CHECK).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace knx {

// What the caller can do about it.
enum class ErrorKind {
  kInvalid,      // the input is wrong; the same call will fail again
  kNotFound,     // what was asked for does not exist
  kConflict,     // somebody else was faster; read again and retry
  kForbidden,    // somebody has to give us a right first
  kUnavailable,  // may work later
};

// Where in the input something is wrong. Line and column count from 1; 0 means unknown.
struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

struct [[nodiscard]] Error {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string message;
  SourcePlace place;

  // "file:line:column: message", as far as the place is known.
  [[nodiscard]] std::string ToString() const;
  // The same error with what was being done in front: "reading profile: unknown field".
  [[nodiscard]] Error Within(std::string_view context) &&;
};

inline Error InvalidError(std::string message, SourcePlace place = {}) {
  return {ErrorKind::kInvalid, std::move(message), std::move(place)};
}
inline Error NotFoundError(std::string message) {
  return {ErrorKind::kNotFound, std::move(message), {}};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  T& operator*() & { return Checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->Checked(); }
  T&& operator*() && { return std::move(Checked()); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->Checked(); }

  [[nodiscard]] const Error& error() const& { return error_; }
  [[nodiscard]] Error error() && { return std::move(error_); }

 private:
  T& Checked() {
    KNX_CHECK(value_.has_value(), "value of a failed Result used");
    return *value_;
  }

  std::optional<T> value_;
  Error error_;
};

// Success without a value.
struct Done {};
using Status = Result<Done>;
inline Status Ok() { return Done{}; }

}  // namespace knx

#define KNX_CONCAT_INNER(a, b) a##b
#define KNX_CONCAT(a, b) KNX_CONCAT_INNER(a, b)

// KNX_TRY(auto x, Call()); declares x from the value, or returns the error to the caller.
#define KNX_TRY(declaration, ...) \
  KNX_TRY_IMPL(KNX_CONCAT(knx_try_, __LINE__), declaration, __VA_ARGS__)
#define KNX_TRY_IMPL(temporary, declaration, ...)           \
  auto temporary = (__VA_ARGS__);                           \
  if (!temporary.ok()) return std::move(temporary).error(); \
  declaration = *std::move(temporary)

// For calls that return Status.
#define KNX_TRY_DONE(...) \
  if (auto knx_status = (__VA_ARGS__); !knx_status.ok()) return std::move(knx_status).error()
