"""What the compiler does by itself is a schedule: print it, take it over, change it."""

from __future__ import annotations

import numpy as np

import hybridjit as hj
from hybridjit import hybrid


@hybrid.script
def softmax(x):
    largest = np.max(x, axis=-1, keepdims=True)
    exps = np.exp(x - largest)
    return exps / np.sum(exps, axis=-1, keepdims=True)


def main() -> None:
    x = np.random.default_rng(0).random((200, 300))
    s = softmax.auto_schedule(x)
    print(s.trace)  # one loop over the rows, arrays of one row, sums in lanes

    same = softmax.with_schedule(s.trace)
    np.testing.assert_array_equal(same(x), softmax(x))  # to the last bit

    text = s.trace.to_json().replace('"lanes": 8', '"lanes": 4')  # one number changed
    narrow = softmax.with_schedule(hj.Trace.from_json(text))
    np.testing.assert_allclose(narrow(x), softmax(x), rtol=1e-14)
    np.testing.assert_allclose(narrow(x[:17, :31].copy()), softmax(x[:17, :31].copy()), rtol=1e-14)

    s.parallel(s.loops("result")[0])  # and a step more: rows on all threads
    np.testing.assert_array_equal(softmax.with_schedule(s)(x), softmax(x))

    try:
        softmax.schedule(x).contract("exps")  # a step out of its order
    except hj.ScheduleError as error:
        print(error)
    print(f"{len(s.trace.steps)} steps: printed, replayed, changed, and one refused")


if __name__ == "__main__":
    main()
