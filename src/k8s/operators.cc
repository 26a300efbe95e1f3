#include "k8s/operators.h"

#include <algorithm>
#include <iterator>

#include "k8s/drivers.h"
#include "k8s/names.h"
#include "k8s/owner.h"
#include "k8s/selector.h"

namespace knx::k8s {
namespace {

// The more is known by a mark, the earlier it comes: a KServe model may run on a LeaderWorkerSet,
// and a JobSet is made of Jobs.
constexpr Operator kOperators[] = {
    {.name = "Jupyter", .type = WorkloadType::kInteractive},
    {.name = "KServe", .type = WorkloadType::kInference},
    {.name = "Seldon", .type = WorkloadType::kInference},
    {.name = "MPI", .type = WorkloadType::kTraining, .gang_name = "training.kubeflow.org/job-name"},
    {.name = "Kubeflow",
     .type = WorkloadType::kTraining,
     .gang_name = "training.kubeflow.org/job-name"},
    {.name = "Spark", .type = WorkloadType::kBatch, .gang_name = "spark-app-selector"},
    {.name = "Ray", .type = WorkloadType::kBatch, .gang_name = "ray.io/cluster"},
    {.name = "LeaderWorkerSet",
     .type = WorkloadType::kInference,
     .gang_name = "leaderworkerset.sigs.k8s.io/name",
     .gang_part = "leaderworkerset.sigs.k8s.io/group-index",
     .gang_size = "leaderworkerset.sigs.k8s.io/size"},
    {.name = "JobSet", .type = WorkloadType::kBatch, .gang_name = "jobset.sigs.k8s.io/jobset-name"},
    {.name = "Volcano", .type = WorkloadType::kBatch, .gang_name = "volcano.sh/job-name"},
    {.name = "Argo", .type = WorkloadType::kBatch},
    {.name = "Job", .type = WorkloadType::kBatch},
};

constexpr const Operator* kNobody = std::end(kOperators);

constexpr const Operator* OperatorNamed(std::string_view name) {
  return std::find_if(std::begin(kOperators), std::end(kOperators),
                      [name](const Operator& one) { return one.name == name; });
}

// A label by which pods are known, with whatever value if it names none.
struct OperatorMark {
  std::string_view key, value, name;
};
// Sorted by key, as labels are.
constexpr OperatorMark kMarks[] = {
    {"app.jupyter.org/hub-version", "", "Jupyter"},
    {"batch.kubernetes.io/job-name", "", "Job"},
    {"hub.jupyter.org/servername", "", "Jupyter"},
    {"hub.jupyter.org/username", "", "Jupyter"},
    {"jobset.sigs.k8s.io/jobset-name", "", "JobSet"},
    {"kubeflow.org/component", "", "Job"},
    {"leaderworkerset.sigs.k8s.io/name", "", "LeaderWorkerSet"},
    {"mpi-job-role", "", "MPI"},
    {"notebook-name", "", "Jupyter"},
    {"pytorch-replica-type", "", "Kubeflow"},
    {"pytorch.org/job-name", "", "Kubeflow"},
    {"ray.io/cluster", "", "Ray"},
    {"ray.io/node-type", "", "Ray"},
    {"seldon-deployment-id", "", "Seldon"},
    {"seldon.io/deployment", "", "Seldon"},
    {"serving.kserve.io/inferenceservice", "", "KServe"},
    {"serving.kubeflow.org/inferenceservice", "", "KServe"},
    {"spark-app-id", "", "Spark"},
    {"spark-app-selector", "", "Spark"},
    {"spark-role", "", "Spark"},
    {"sparkoperator.k8s.io/app-name", "", "Spark"},
    {"tensorflow.org/job-name", "", "Kubeflow"},
    {"tf-replica-type", "", "Kubeflow"},
    {"training.kubeflow.org/job-name", "", "Kubeflow"},
    {"training.kubeflow.org/operator-name", "mpi-operator", "MPI"},
    {"training.kubeflow.org/operator-name", "mpijob-controller", "MPI"},
    {"training.kubeflow.org/replica-type", "", "Kubeflow"},
    {"volcano.sh/job-name", "", "Volcano"},
    {"workflows.argoproj.io/workflow", "", "Argo"},
};
static_assert(std::is_sorted(std::begin(kMarks), std::end(kMarks),
                             [](const auto& a, const auto& b) { return a.key < b.key; }));
static_assert(std::all_of(std::begin(kMarks), std::end(kMarks),
                          [](const auto& mark) { return OperatorNamed(mark.name) != kNobody; }));

// Of those whose pods are made by one of them, the labels of that one.
constexpr OperatorMark kDrivers[] = {
    {names::kSparkRole, "driver", "Spark"},
    {names::kRayNodeType, "head", "Ray"},
};
static_assert(std::all_of(std::begin(kDrivers), std::end(kDrivers),
                          [](const auto& mark) { return OperatorNamed(mark.name) != kNobody; }));

// What people call what they run: for operators that write it on their pods, and for everybody.
constexpr std::string_view kAppNames[] = {"spark-app-name", "app.kubernetes.io/name", "app"};

struct Owner {
  std::string_view group, kind, name;
};
constexpr Owner kOwners[] = {
    {"batch", "CronJob", "Job"},
    {"batch", "Job", "Job"},
    {"batch.volcano.sh", "Job", "Volcano"},
    {"argoproj.io", "Workflow", "Argo"},
    {"jobset.x-k8s.io", "JobSet", "JobSet"},
    {"kubeflow.org", "JAXJob", "Kubeflow"},
    {"kubeflow.org", "MPIJob", "MPI"},
    {"kubeflow.org", "Notebook", "Jupyter"},
    {"kubeflow.org", "PaddleJob", "Kubeflow"},
    {"kubeflow.org", "PyTorchJob", "Kubeflow"},
    {"kubeflow.org", "TFJob", "Kubeflow"},
    {"kubeflow.org", "XGBoostJob", "Kubeflow"},
    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "LeaderWorkerSet"},
    {"machinelearning.seldon.io", "SeldonDeployment", "Seldon"},
    {"ray.io", "RayCluster", "Ray"},
    {"serving.kserve.io", "InferenceService", "KServe"},
    {"sparkoperator.k8s.io", "SparkApplication", "Spark"},
};
static_assert(std::all_of(std::begin(kOwners), std::end(kOwners),
                          [](const auto& owner) { return OperatorNamed(owner.name) != kNobody; }));

// The first of those asked for whose mark the label is.
template <class Wanted>
const Operator* ByLabel(std::string_view key, std::string_view value, Wanted wanted) {
  const auto* mark =
      std::lower_bound(std::begin(kMarks), std::end(kMarks), key,
                       [](const OperatorMark& m, std::string_view k) { return m.key < k; });
  const Operator* first = kNobody;
  for (; mark != std::end(kMarks) && mark->key == key; ++mark) {
    if (!mark->value.empty() && mark->value != value) continue;
    const Operator* const marked = OperatorNamed(mark->name);
    if (wanted(*marked)) first = std::min(first, marked);
  }
  return first;
}

const Operator* ByOwner(const ObjectMeta& meta) {
  const OwnerReference* const owner = ControllerOf(meta);
  if (owner == nullptr) return kNobody;
  const std::string_view version = owner->api_version;
  const std::string_view group = version.substr(0, version.rfind('/'));
  for (const Owner& known : kOwners) {
    if (known.kind == owner->kind && known.group == group) return OperatorNamed(known.name);
  }
  return kNobody;
}

template <class Wanted>
const Operator* FirstOf(const ObjectMeta& meta, Wanted wanted) {
  const Operator* first = ByOwner(meta);
  if (first != kNobody && !wanted(*first)) first = kNobody;
  for (const auto& [key, value] : meta.labels) first = std::min(first, ByLabel(key, value, wanted));
  return first == kNobody ? nullptr : first;
}

}  // namespace

std::string_view NameOf(WorkloadType type) {
  constexpr std::string_view kNames[] = {"",      "training", "inference",
                                         "batch", "service",  "interactive"};
  return kNames[static_cast<std::size_t>(type)];
}

std::span<const Operator> Operators() { return kOperators; }

const Operator* OperatorOf(const ObjectMeta& meta) {
  return FirstOf(meta, [](const Operator&) { return true; });
}

const Operator* GangOperatorOf(const ObjectMeta& meta) {
  return FirstOf(meta, [](const Operator& one) { return !one.gang_name.empty(); });
}

bool IsDriver(const StringMap& labels) {
  return std::any_of(std::begin(kDrivers), std::end(kDrivers), [&](const OperatorMark& mark) {
    const std::string* const said = FindValue(labels, mark.key);
    return said != nullptr && *said == mark.value;
  });
}

std::string_view AppNameOf(const StringMap& labels) {
  for (const std::string_view key : kAppNames) {
    const std::string* const name = FindValue(labels, key);
    if (name != nullptr && !name->empty()) return *name;
  }
  return {};
}

}  // namespace knx::k8s
