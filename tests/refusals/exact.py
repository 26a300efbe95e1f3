"""Can this gang be placed at all? Tries everything, without any of the scheduler's code.

A cell is a small cluster: nodes with what is left on them, and one gang whose members are kinds of
equal pods. All amounts are whole numbers.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd


@dataclass
class Node:
    name: str
    free: dict  # resource -> amount; "pods" among them
    labels: dict
    tainted: bool = False
    cordoned: bool = False
    port_taken: bool = False
    there: dict = field(default_factory=dict)  # what one pod takes that is there; nothing: none is


@dataclass
class Kind:
    members: int
    takes: dict  # resource -> amount above zero; "pods": 1 among them
    selector: dict = field(default_factory=dict)
    tolerates: bool = False
    port: bool = False  # wants a port of its node for itself
    apart: str = ""  # no two of the kind in one domain of this label
    together: str = ""  # all of the kind in one domain of this label
    affinity: bool = False  # it says that itself, not its gang


@dataclass
class Cell:
    name: str
    nodes: list
    kinds: list
    needed: int
    key: str = ""  # all kinds together in one domain of this label
    # Parts that start whole or not at all: how many members each has, and how many make it whole.
    # Members of the only kind are in them in that order; who is left is in none.
    sub_groups: list = field(default_factory=list)
    min_sub_groups: int = 0

    @property
    def least(self):
        """How many members have to be placed at the least."""
        sizes = sorted(whole for _, whole in self.sub_groups)
        return max(self.needed, sum(sizes[: self.min_sub_groups]))

    def can_start_with(self, most):
        """Whether the gang can start if so many members, whoever they are, can be placed."""
        if not self.sub_groups:
            return most >= self.needed
        loose = sum(kind.members for kind in self.kinds) - sum(m for m, _ in self.sub_groups)
        for chosen in range(1 << len(self.sub_groups)):
            parts = [part for i, part in enumerate(self.sub_groups) if chosen >> i & 1]
            fewest = sum(whole for _, whole in parts)
            largest = sum(members for members, _ in parts) + loose
            if len(parts) >= self.min_sub_groups and fewest <= most:
                if min(largest, most) >= max(self.needed, 1):
                    return True
        return False


def is_open(kind, node):
    """Nothing speaks against the node but what it has left."""
    if node.cordoned or (node.tainted and not kind.tolerates) or (kind.port and node.port_taken):
        return False
    if kind.together and kind.together not in node.labels:
        return False
    return all(node.labels.get(key) == value for key, value in kind.selector.items())


def room(kind, node, resources):
    """How many of the kind have room on the node, by these resources alone."""
    counts = [node.free.get(r, 0) // kind.takes[r] for r in resources if kind.takes.get(r, 0) > 0]
    return min(counts) if counts else kind.members


def most_of_kind(kind, nodes, resources, apart, together):
    """The most members of one kind that can be placed, by what is named and nothing else."""
    domains = {}
    for node in nodes:
        if not is_open(kind, node):
            continue
        near = node.labels.get(together) if together else None
        if together and near is None:
            continue
        far = node.labels.get(apart) if apart else None
        slots = domains.setdefault(near, {})
        count = slots.get(far, 0) + min(room(kind, node, resources), kind.members)
        slots[far] = min(count, 1) if far is not None else count
    sums = [sum(slots.values()) for slots in domains.values()] or [0]
    return min(max(sums) if together else sum(sums), kind.members)


def shared(cell, resource):
    """The most members that can be placed by one resource which kinds of different sizes share."""
    most, left, sizes = 0, 0, []
    for kind in cell.kinds:
        size = kind.takes.get(resource, 0)
        if size > 0:
            sizes.append((size, kind.members))
        else:
            most += kind.members
    for node in cell.nodes:
        takers = [kind for kind in cell.kinds if kind.takes.get(resource, 0) > 0]
        usable = [kind.takes[resource] for kind in takers if is_open(kind, node)]
        free = node.free.get(resource, 0)
        if usable and free >= min(usable):
            left += free - free % gcd(*usable)
    for size, members in sorted(sizes):
        fit = min(members, left // size)
        left -= fit * size
        most += fit
    return most


def recount(cell, resources, apart="", together=""):
    """The count behind a stated reason, made again."""
    total = 0
    for kind in cell.kinds:
        own_apart = apart if kind.apart == apart else ""
        own_together = together if kind.together == together else ""
        total += most_of_kind(kind, cell.nodes, resources, own_apart, own_together)
    if len(resources) == 1 and not apart and not together and len(cell.kinds) > 1:
        total = min(total, shared(cell, resources[0]))
    return total


def can_be_placed(cell):
    """Whether the gang can start; tries every way."""
    return any(cell.can_start_with(_most(cell, nodes)) for nodes in choices_of_nodes(cell))


def choices_of_nodes(cell):
    """The sets of nodes of which the gang has to be in one."""
    # Kinds ask to be together only where there is no other; all of them are asked if one is.
    fixed = [kind.together for kind in cell.kinds if kind.together]
    if not fixed:
        return [cell.nodes]
    domains = {}
    for node in cell.nodes:
        if fixed[0] in node.labels:
            domains.setdefault(node.labels[fixed[0]], []).append(node)
    return list(domains.values())


def _most(cell, nodes):
    """The most members that can be placed at once."""
    resources = sorted({r for kind in cell.kinds for r in kind.takes})
    kinds = cell.kinds

    def choices(node, free, allowed):
        """Every number of members of each kind that the node can hold beside each other."""
        out = [((), free)]
        for i, kind in enumerate(kinds):
            grown = []
            for counts, left in out:
                fit = [left[resources.index(r)] // n for r, n in kind.takes.items()]
                limit = min([allowed[i]] + fit)
                if not is_open(kind, node):
                    limit = 0
                if kind.port or (kind.apart and kind.apart in node.labels):
                    limit = min(limit, 1)
                for count in range(limit + 1):
                    used = [count * kind.takes.get(r, 0) for r in resources]
                    rest = tuple(have - use for have, use in zip(left, used))
                    grown.append((counts + (count,), rest))
            out = grown
        # All who want a port want the same one.
        wants_port = [i for i, kind in enumerate(kinds) if kind.port]
        return [counts for counts, _ in out if sum(counts[i] for i in wants_port) <= 1]

    @lru_cache(maxsize=None)
    def best(index, left, taken):
        """The most members that the nodes from `index` on can hold of those that are left."""
        if index == len(nodes) or not any(left):
            return 0
        node = nodes[index]
        most = 0
        for counts in choices(node, tuple(node.free.get(r, 0) for r in resources), left):
            domains = set(taken)
            clash = False
            for i, kind in enumerate(kinds):
                value = node.labels.get(kind.apart) if kind.apart else None
                if not counts[i] or value is None:
                    continue
                clash |= (i, value) in domains
                domains.add((i, value))
            if clash:
                continue
            rest = tuple(a - b for a, b in zip(left, counts))
            most = max(most, sum(counts) + best(index + 1, rest, frozenset(domains)))
            if most == sum(left):
                break
        return most

    return best(0, tuple(kind.members for kind in kinds), frozenset())
