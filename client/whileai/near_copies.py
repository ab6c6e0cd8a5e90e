"""Prompts that are nearly the same words: within one list of rows, or across tasks that pass for different ones.

Likeness is the Jaccard index of the two prompts' sets of words. The search is exact and avoids comparing all with all:
prompts are grouped by the words they share with any other (Xiao et al., "Efficient Similarity Joins for Near Duplicate
Detection", WWW 2008: equal prefixes of rare words are necessary), so 20,000 prompts take seconds.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

EXAMPLES = 5
EXCERPT = 80  # characters of a prompt that an example shows
CANDIDATES = 200  # look-alikes compared per kind of prompt; keeps a corpus of one template linear in its size
# A word; in scripts that write no spaces between words, a character.
WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)


@dataclass(slots=True)
class _Kind:
    """The prompts that have the same shared words and as many words of their own: all alike to anything else."""

    shared: frozenset[int]
    own: int
    members: list[int] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.shared) + self.own


@dataclass(frozen=True, slots=True)
class _Match:
    """Two kinds (or one twice) whose prompts are near-copies of each other."""

    one: _Kind
    other: _Kind
    likeness: float


def near_duplicate_prompts(rows: Sequence[Mapping[str, Any]], *, threshold: float = 0.8) -> dict[str, Any]:
    """Different prompts among the rows that share at least `threshold` of their words.

    `n_pairs` counts such pairs, `n_prompts_involved` the prompts in any; `examples` are the closest ones. `capped` says
    that a prompt had more look-alikes than were compared, so that the counts are lower bounds.

    >>> asks = ["please cancel the order I made on monday", "please cancel the order I made on tuesday", "hello"]
    >>> near_duplicate_prompts([{"prompt": ask} for ask in asks], threshold=0.75)["n_pairs"]
    1
    """
    prompts = list(dict.fromkeys(text for row in rows if (text := str(row.get("prompt") or "").strip())))
    matches, capped = _matches(prompts, threshold)
    involved: set[int] = set()
    n_pairs = 0
    for match in matches:
        n_pairs += _pairs_in(match)
        involved.update(match.one.members, match.other.members)
    closest = sorted(matches, key=lambda match: -match.likeness)
    examples = [_example(prompts, *pair) for pair in _first(pair for match in closest for pair in _pairs(match))]
    return {
        "n_prompts": len(prompts),
        "n_pairs": n_pairs,
        "n_prompts_involved": len(involved),
        "threshold": threshold,
        "examples": examples,
        "capped": capped,
    }


def near_copies_across_tasks(pairs: Iterable[tuple[str, str]], *, threshold: float = 0.8) -> dict[str, Any]:
    """Of (task, prompt) pairs, the tasks whose prompt is nearly, or exactly, the prompt of another task.

    Such tasks may be one task under two names: in a train and a holdout set at once, they leak. Likenesses within a
    task do not count.

    >>> near_copies_across_tasks([("sc_1", "where is parcel 88"), ("sc_2", "Where is parcel 88?")])["n_tasks_involved"]
    2
    """
    asked = [(task, prompt) for task, prompt in dict.fromkeys(pairs) if prompt.strip()]
    tasks = [task for task, _ in asked]
    prompts = [prompt for _, prompt in asked]
    matches, capped = _matches(prompts, threshold)
    involved: set[str] = set()
    n_pairs = 0
    for match in matches:
        one, other = Counter(tasks[at] for at in match.one.members), Counter(tasks[at] for at in match.other.members)
        within = sum(count * (other[task] - (match.one is match.other)) for task, count in one.items())
        found = _pairs_in(match) - (within // 2 if match.one is match.other else within)
        if found:
            n_pairs += found
            involved.update(*_of_two_tasks(one, other))
    closest = sorted(matches, key=lambda match: -match.likeness)
    apart = (pair for match in closest for pair in _pairs(match) if tasks[pair[0]] != tasks[pair[1]])
    examples = [
        {**_example(prompts, *pair), "task_a": tasks[pair[0]], "task_b": tasks[pair[1]]} for pair in _first(apart)
    ]
    return {
        "n_tasks": len(set(tasks)),
        "n_pairs": n_pairs,
        "n_tasks_involved": len(involved),
        "threshold": threshold,
        "examples": examples,
        "capped": capped,
    }


def words_of(prompt: str) -> frozenset[str]:
    """The words that count for likeness: case and punctuation do not."""
    return frozenset(WORD.findall(prompt.casefold()))


def _matches(prompts: Sequence[str], threshold: float) -> tuple[list[_Match], bool]:
    """Every two kinds that are alike enough, and whether some kind had too many look-alikes to compare them all."""
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold={threshold!r} must be above 0 and at most 1; 0.8 is usual")
    kinds = _kinds(prompts)
    found = [
        _Match(kind, kind, likeness)
        for kind in kinds
        if len(kind.members) > 1 and (likeness := len(kind.shared) / (len(kind.shared) + 2 * kind.own)) >= threshold
    ]
    capped = False
    index: dict[int, list[int]] = defaultdict(list)  # a rare word -> the kinds that have it, smallest first
    for number, kind in enumerate(kinds):
        prefix = sorted(kind.shared)[: kind.size - math.ceil(threshold * kind.size - 1e-9) + 1]
        candidates = _candidates(index, prefix, kinds, threshold * kind.size - 1e-9)
        for compared, other in enumerate(candidates):
            if compared == CANDIDATES:
                capped = True
                break
            common = len(kind.shared & kinds[other].shared)
            likeness = common / (kind.size + kinds[other].size - common)
            if likeness >= threshold:
                found.append(_Match(kinds[other], kind, likeness))
        for word in prefix:
            index[word].append(number)
    return found, capped


def _kinds(prompts: Sequence[str]) -> list[_Kind]:
    """The prompts by the words they share with others, shortest first. Words become numbers, the rarest the lowest."""
    bags = [words_of(prompt) for prompt in prompts]
    uses = Counter(word for bag in bags for word in bag)
    rank = {word: number for number, (word, _) in enumerate(sorted(uses.items(), key=lambda item: (item[1], item[0])))}
    kinds: dict[tuple[frozenset[int], int], _Kind] = {}
    for at, bag in enumerate(bags):
        shared = frozenset(rank[word] for word in bag if uses[word] > 1)
        if not shared:
            continue
        key = shared, len(bag) - len(shared)
        kinds.setdefault(key, _Kind(*key)).members.append(at)
    return sorted(kinds.values(), key=lambda kind: (kind.size, sorted(kind.shared)))


def _candidates(
    index: Mapping[int, list[int]], prefix: Sequence[int], kinds: Sequence[_Kind], smallest: float
) -> Iterator[int]:
    """The earlier kinds that share a prefix word, each once: by the rarest such word, then the nearest in size."""
    seen: set[int] = set()
    for word in prefix:
        for number in reversed(index.get(word, ())):
            if kinds[number].size < smallest:
                break
            if number not in seen:
                seen.add(number)
                yield number


def _pairs_in(match: _Match) -> int:
    count = len(match.one.members)
    return count * (count - 1) // 2 if match.one is match.other else count * len(match.other.members)


def _pairs(match: _Match) -> Iterator[tuple[int, int]]:
    if match.one is match.other:
        members = match.one.members
        return ((a, b) for at, a in enumerate(members) for b in members[at + 1 :])
    return ((a, b) for a in match.one.members for b in match.other.members)


def _of_two_tasks(one: Mapping[str, int], other: Mapping[str, int]) -> Iterator[set[str]]:
    """The tasks on either side that meet a task other than themselves."""
    for side, opposite in ((one, other), (other, one)):
        yield {task for task in side if len(opposite) > 1 or task not in opposite}


def _first(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    return [pair for pair, _ in zip(pairs, range(EXAMPLES), strict=False)]


def _example(prompts: Sequence[str], a: int, b: int) -> dict[str, Any]:
    one, other = words_of(prompts[a]), words_of(prompts[b])
    likeness = len(one & other) / len(one | other)
    return {"a": prompts[a][:EXCERPT], "b": prompts[b][:EXCERPT], "jaccard": round(likeness, 3)}
