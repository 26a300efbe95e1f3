// The messages of Kubernetes that are read, with the fields that readers ask for: numbers as in the
// generated.proto files of k8s.io/api and k8s.io/apimachinery, presence as in its Go structs
// (Presence says why that matters). A field that a reader asks for must be listed, or the reader
// stops the program.
#pragma once

#include <string_view>

#include "k8s/proto_message.h"

namespace knx::k8s::messages {

// What objects come in.
extern const MessageType& kEnvelope;    // runtime.Unknown
extern const MessageType& kWatchEvent;  // metav1.WatchEvent
extern const MessageType& kStatus;      // metav1.Status
extern const MessageType& kList;        // of any kind
extern const MessageType& kAnyObject;   // metadata, which stands in the same place everywhere

// A number or a text: in JSON one value, here a message.
extern const MessageType& kIntOrString;

// Objects, by the name of their kind. Null if we do not read it.
const MessageType* MessageOf(std::string_view kind);

}  // namespace knx::k8s::messages
