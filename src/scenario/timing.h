// How long things take in the embedded cluster. A scenario may change each (docs/scenarios.md).
#pragma once

#include "base/time.h"

namespace knx::scenario {

// Nothing in a run may last longer than this, so that adding up times cannot overflow.
inline constexpr Duration kMaxSpan = Duration::Minutes(60 * 24 * 3650);

struct Timing {
  Duration watch = Duration::Milliseconds(1);        // from a write until the scheduler is told
  Duration call = Duration::Milliseconds(2);         // a request on its way, and again its answer
  Duration controller = Duration::Milliseconds(10);  // from a write until a controller acts on it
  Duration start = Duration::Seconds(1);             // from bound to running
  Duration stop = Duration::Seconds(1);              // from deleted to gone, within its grace
  Duration resize = Duration::Seconds(1);            // until new requests of a running pod hold
  Duration node_grace = Duration::Seconds(40);       // a silent node becomes unreachable
  Duration eviction_retry = Duration::Seconds(5);    // of a drain that a budget holds up
  Duration pod_gc = Duration::Seconds(20);           // pods of a node that is gone are removed
  Duration job_backoff = Duration::Seconds(10);      // doubles with each failed pod
};

}  // namespace knx::scenario
