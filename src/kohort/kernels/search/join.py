"""Which class costs least to join another with, both being boxes with their sizes."""

from __future__ import annotations

from kohort.kernels.boxes import NEVER
from kohort.kernels.costs import span_cost
from kohort.kernels.jit import kernel


@kernel
def fill(
    costs,  # IN   Costs
    boxes,  # IN/OUT Boxes; lows, highs and sizes are there
):
    """Compute what the sides of boxes cost, and the boxes."""
    for one in range(boxes.lows.shape[0]):
        boxes.cost[one] = 0
        for axis in range(boxes.lows.shape[1]):
            boxes.sides[one, axis] = span_cost(costs, axis, boxes.lows[one, axis], boxes.highs[one, axis])
            boxes.cost[one] += boxes.sides[one, axis]


@kernel
def nearest(
    costs,  # IN   Costs
    boxes,  # IN   Boxes; a class without members is gone
    one,  # IN   int, a class
):
    """Find the class that adds the least loss if it joins this one, the first of equals; -1 if there is no other."""
    lows, highs, sides, _, sizes = boxes
    best = -1
    least = NEVER
    for other in range(sizes.shape[0]):
        if other == one or sizes[other] == 0:
            continue
        loss = 0
        axis = 0
        while loss < least and axis < lows.shape[1]:
            lo = min(lows[one, axis], lows[other, axis])
            hi = max(highs[one, axis], highs[other, axis])
            both = span_cost(costs, axis, lo, hi)
            loss += sizes[one] * (both - sides[one, axis]) + sizes[other] * (both - sides[other, axis])
            axis += 1
        if loss < least:
            best, least = other, loss
    return best


@kernel
def join(
    costs,  # IN   Costs
    boxes,  # IN/OUT Boxes
    one,  # IN   int, the class that is gone afterwards
    other,  # IN   int, the class that takes it in
):
    """Let one class join another."""
    lows, highs, sides, cost, sizes = boxes
    cost[other] = 0
    for axis in range(lows.shape[1]):
        lows[other, axis] = min(lows[one, axis], lows[other, axis])
        highs[other, axis] = max(highs[one, axis], highs[other, axis])
        sides[other, axis] = span_cost(costs, axis, lows[other, axis], highs[other, axis])
        cost[other] += sides[other, axis]
    sizes[other] += sizes[one]
    sizes[one] = 0
    cost[one] = NEVER
