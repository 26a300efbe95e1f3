#include "scenario/pod_script.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "k8s/enum_names.h"
#include "k8s/names.h"
#include "k8s/selector.h"
#include "scenario/annotations.h"
#include "scenario/timing.h"

namespace knx::scenario {
namespace {

std::string Annotation(std::string_view name) { return fmt::format("annotation {}", name); }

Error BadAnnotation(std::string_view name, std::string_view text, std::string_view why) {
  return InvalidError(fmt::format("{}: {} {}", Annotation(name), text, why));
}

}  // namespace

Result<PodScript> ScriptOf(const k8s::ObjectMeta& meta) {
  PodScript out;
  if (const std::string* text = k8s::FindValue(meta.annotations, kRunFor)) {
    auto parsed = ParseDuration(*text);
    if (!parsed.ok()) return std::move(parsed).error().Within(Annotation(kRunFor));
    if (*parsed < Duration{} || *parsed > kMaxSpan) {
      return BadAnnotation(
          kRunFor, *text,
          fmt::format("is out of range, allowed is 0s to {}", FormatDuration(kMaxSpan)));
    }
    out.run_for = *parsed;
  }
  if (const std::string* text = k8s::FindValue(meta.annotations, kEndsAs)) {
    if (*text == NameOf(k8s::PodPhase::kFailed)) {
      out.ends_as = k8s::PodPhase::kFailed;
    } else if (*text != NameOf(k8s::PodPhase::kSucceeded)) {
      return BadAnnotation(kEndsAs, *text, "is neither Succeeded nor Failed");
    }
  }
  if (const std::string* text = k8s::FindValue(meta.annotations, kResize)) {
    for (const std::string_view reason :
         {k8s::names::kReasonDeferred, k8s::names::kReasonInfeasible}) {
      if (*text == reason) out.resize_refusal = reason;
    }
    if (out.resize_refusal.empty() && *text != "Done") {
      return BadAnnotation(kResize, *text, "is not Done, Deferred or Infeasible");
    }
  }
  return out;
}

}  // namespace knx::scenario
