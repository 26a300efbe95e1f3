"""The nodes of `make cluster`: GPU machines that exist on paper only, in zones and racks."""

_RACK = 8  # nodes
_ZONES = ("zone-a", "zone-b", "zone-c")
_MACHINES = (
    {
        "type": "h100", "product": "NVIDIA-H100-80GB-HBM3", "gpu_memory": "81559",
        "room": {"cpu": "192", "memory": "2Ti", "ephemeral-storage": "8Ti", "pods": "110"},
    },
    {
        "type": "a100", "product": "NVIDIA-A100-SXM4-80GB", "gpu_memory": "81920",
        "room": {"cpu": "96", "memory": "1Ti", "ephemeral-storage": "4Ti", "pods": "110"},
    },
)
GPUS = 8


def gpu_node(number):
    """Racks are filled one after the other, each with one type of machine, and take turns over
    zones and types."""
    rack = number // _RACK
    machine = _MACHINES[rack % len(_MACHINES)]
    name = f"gpu-{number + 1:04}"
    room = {**machine["room"], "nvidia.com/gpu": str(GPUS)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "node.kubernetes.io/instance-type": f"{machine['type']}.{GPUS}",
                "topology.kubernetes.io/region": "region-1",
                "topology.kubernetes.io/zone": _ZONES[rack % len(_ZONES)],
                "rack": f"rack-{rack + 1}",
                "nvidia.com/gpu.present": "true",
                "nvidia.com/gpu.product": machine["product"],
                "nvidia.com/gpu.count": str(GPUS),
                "nvidia.com/gpu.memory": machine["gpu_memory"],
            },
        },
        "status": {"capacity": room, "allocatable": room},
    }


def is_ready(node):
    conditions = node.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
