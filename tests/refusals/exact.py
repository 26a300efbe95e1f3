"""Can this gang be placed at all? Tries everything, without any of the scheduler's code.

A cell is a small cluster: nodes with what is left on them, and one gang whose members are kinds of
equal pods. All amounts are whole numbers.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
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
    ours: dict = field(default_factory=dict)  # what members of the gang take that are there


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
    # By member, who are counted kind by kind: what it is, and the position of the part of the gang
    # that it is in. Nothing: nobody is anything, or in any.
    roles: list = field(default_factory=list)
    parts: list = field(default_factory=list)
    role_minimums: dict = field(default_factory=dict)  # how many of each role must start
    # Parts start whole or not at all: how many members make each whole, and how many parts must.
    wholes: list = field(default_factory=list)
    min_sub_groups: int = 0
    # By the position of a kind and that of a node: members beside those of the kinds that have a
    # place already. What is needed is needed beside them.
    placed: list = field(default_factory=list)
    in_all: dict = field(default_factory=dict)  # what has to be left for the gang before it starts

    @property
    def least(self):
        """How many members have to be placed at the least."""
        in_parts = sum(sorted(self.wholes)[: self.min_sub_groups])
        return max(self.needed, in_parts, sum(self.role_minimums.values()))

    @property
    def choosy(self):
        """Who starts makes a difference, beside how many do."""
        return bool(self.role_minimums or self.wholes)

    def members(self):
        """Of every member its kind, its role and its part."""
        kinds = [i for i, kind in enumerate(self.kinds) for _ in range(kind.members)]
        roles = self.roles or [""] * len(kinds)
        parts = self.parts or [None] * len(kinds)
        return list(zip(kinds, roles, parts))

    def of_role(self, role):
        """The cell as if nobody but who has the role had to be placed."""
        return self.with_members(Counter(k for k, r, _ in self.members() if r == role))

    def of_roles(self):
        """The same for as few as all roles need, whose members are alike."""
        counts = Counter()
        for role, minimum in self.role_minimums.items():
            kinds = {k for k, r, _ in self.members() if r == role}
            assert len(kinds) == 1, "members of a role are of several kinds"
            counts[kinds.pop()] += minimum
        return self.with_members(counts)

    def with_members(self, counts):
        kinds = [replace(kind, members=counts[i]) for i, kind in enumerate(self.kinds) if counts[i]]
        return replace(self, kinds=kinds, roles=[], parts=[], role_minimums={}, wholes=[])


def choices_of_members(cell):
    """How many of each kind some are that would be a start for the gang; every such choice."""
    by_part = {}
    for kind, role, part in cell.members():
        by_part.setdefault(part, Counter())[(kind, role)] += 1
    roles = sorted(cell.role_minimums)
    # How many of each kind, how many of each role as far as they are needed, and whole parts.
    states = {((0,) * len(cell.kinds), (0,) * len(roles), 0)}
    for part, alike in by_part.items():
        options = []
        for counts in product(*(range(n + 1) for n in alike.values())):
            if part is None or not any(counts) or sum(counts) >= cell.wholes[part]:
                options.append(dict(zip(alike, counts)))
        grown = set()
        for kinds, of_roles, whole in states:
            for option in options:
                more = list(kinds)
                roles_now = list(of_roles)
                for (kind, role), count in option.items():
                    more[kind] += count
                    if role in cell.role_minimums:
                        at = roles.index(role)
                        roles_now[at] = min(roles_now[at] + count, cell.role_minimums[role])
                starts = part is not None and any(option.values())
                grown.add((tuple(more), tuple(roles_now), whole + starts))
        states = grown
    wanted = tuple(cell.role_minimums[role] for role in roles)
    return {
        kinds
        for kinds, of_roles, whole in states
        if sum(kinds) >= cell.needed and of_roles == wanted and whole >= cell.min_sub_groups
    }


def left_in_all(cell, resource):
    """What all nodes have left that are open to anybody at all, whoever may go there."""
    return sum(node.free.get(resource, 0) for node in cell.nodes if not node.cordoned)


def room_for_more(cell, places):
    """A node that has room for one more of a kind some of which wait; None: there is none.

    `places`: the node of every member, in their order; nothing: it waits.
    """
    used = {node.name: Counter() for node in cell.nodes}
    for (index, _, _), name in zip(cell.members(), places):
        if name:
            used[name].update(cell.kinds[index].takes)
    waiting = {index for (index, _, _), name in zip(cell.members(), places) if not name}
    for index in sorted(waiting):
        kind = cell.kinds[index]
        for node in cell.nodes:
            left = {r: n - used[node.name][r] for r, n in node.free.items()}
            if is_open(kind, node) and all(left.get(r, 0) >= n for r, n in kind.takes.items()):
                return node.name
    return None


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


def least_count(cell):
    """The smallest of all counts that could stand behind a reason."""
    resources = sorted({r for kind in cell.kinds for r in kind.takes})
    counts = [recount(cell, by, apart)
              for by in [[], resources] + [[r] for r in resources]
              for apart in {""} | {kind.apart for kind in cell.kinds}]
    return min(counts)


def counted_out(cell):
    """Whether in each set of nodes of which the gang has to be in one a count shows that it has too
    little room, for all that it needs or for those of a role."""
    def too_few(here):
        roles = [(here.of_role(role), least) for role, least in here.role_minimums.items()]
        return least_count(here) < here.least or any(least_count(of) < n for of, n in roles)
    return all(too_few(replace(cell, nodes=nodes)) for nodes in choices_of_nodes(cell))


def can_be_placed(cell):
    """Whether the gang can start; tries every way."""
    if not cell.choosy:
        return any(_most(cell, nodes) >= cell.needed for nodes in choices_of_nodes(cell))
    wanted = choices_of_members(cell)
    return any(wanted & _reachable(cell, nodes) for nodes in choices_of_nodes(cell))


def choices_of_nodes(cell):
    """The sets of nodes of which the gang has to be in one."""
    # Kinds ask to be together only where there is no other; all of them are asked if one is.
    fixed = [kind.together for kind in cell.kinds if kind.together]
    # Where nobody has room nothing needs to be tried.
    usable = [node for node in cell.nodes
              if any(is_open(kind, node) and room(kind, node, kind.takes) for kind in cell.kinds)]
    if not fixed:
        return [usable]
    domains = {}
    for node in usable:
        if fixed[0] in node.labels:
            domains.setdefault(node.labels[fixed[0]], []).append(node)
    return list(domains.values())


def _on_node(kinds, resources, node, allowed):
    """Every number of members of each kind that the node can hold beside each other."""
    out = [((), tuple(node.free.get(r, 0) for r in resources))]
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


def _with_domains(kinds, node, counts, taken):
    """The domains that are taken then; None: one of them was before."""
    domains = set(taken)
    for i, kind in enumerate(kinds):
        value = node.labels.get(kind.apart) if kind.apart else None
        if not counts[i] or value is None:
            continue
        if (i, value) in domains:
            return None
        domains.add((i, value))
    return frozenset(domains)


def _reachable(cell, nodes):
    """How many of each kind can be placed at once; every such choice."""
    resources = sorted({r for kind in cell.kinds for r in kind.takes})
    members = tuple(kind.members for kind in cell.kinds)
    states = {(members, frozenset())}
    for node in nodes:
        grown = set()
        for left, taken in states:
            for counts in _on_node(cell.kinds, resources, node, left):
                domains = _with_domains(cell.kinds, node, counts, taken)
                if domains is not None:
                    grown.add((tuple(a - b for a, b in zip(left, counts)), domains))
        states = grown
    return {tuple(a - b for a, b in zip(members, left)) for left, _ in states}


def _most(cell, nodes):
    """The most members that can be placed at once."""
    resources = sorted({r for kind in cell.kinds for r in kind.takes})
    kinds = cell.kinds

    @lru_cache(maxsize=None)
    def best(index, left, taken):
        """The most members that the nodes from `index` on can hold of those that are left."""
        if index == len(nodes) or not any(left):
            return 0
        most = 0
        for counts in _on_node(kinds, resources, nodes[index], left):
            domains = _with_domains(kinds, nodes[index], counts, taken)
            if domains is None:
                continue
            rest = tuple(a - b for a, b in zip(left, counts))
            most = max(most, sum(counts) + best(index + 1, rest, domains))
            if most == sum(left):
                break
        return most

    return best(0, tuple(kind.members for kind in kinds), frozenset())
