// What a certificate says of itself, before anybody is shown it.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace knx::net {

struct Validity {
  Time begins, ends;  // kNever: beyond what can be said
};

// Of the first certificate of a text in PEM form, which is its owner's; those above it follow.
Result<Validity> ReadValidity(const std::string& cert_pem);
// Whether the key can be read and belongs to that certificate.
Status CheckKey(const std::string& cert_pem, const std::string& key_pem);

}  // namespace knx::net
