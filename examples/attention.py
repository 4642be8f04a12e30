"""A machine-learning operator: softmax(q k / sqrt(d)) v, one pass over the keys."""

from __future__ import annotations

import numpy as np
from _picture import colored, enlarged, save_if_asked

from hybridjit import hybrid


@hybrid.script
def attention(q, k, v):
    queries, width = q.shape
    out = output_tensor((queries, v.shape[1]), q.dtype)
    scale = 1.0 / sqrt(float(width))
    for i in range(queries):
        largest = -inf
        total = 0.0
        for j in range(k.shape[0]):
            score = 0.0
            for d in range(width):
                score += q[i, d] * k[j, d]
            score *= scale
            new_largest = max(largest, score)
            shrink = exp(largest - new_largest)
            weight = exp(score - new_largest)
            total = total * shrink + weight
            for d in range(v.shape[1]):
                out[i, d] = out[i, d] * shrink + weight * v[j, d]
            largest = new_largest
        for d in range(v.shape[1]):
            out[i, d] = out[i, d] / total
    return out


@hybrid.script
def attention_map(q, k):
    """How much each query looks at each key."""
    scores = q @ k.T / np.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def picture():
    place, wave = np.arange(48)[:, None], np.arange(1, 9)[None]
    positions = np.hstack([np.sin(place * wave / 9), np.cos(place * wave / 9)])
    words = np.random.default_rng(1).standard_normal((48, 16)) * 0.6
    return enlarged(colored(attention_map(1.4 * (positions + words), positions)), 8)


def main() -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((n, 16)).astype(np.float32) for n in (12, 40, 40))
    scores = q @ k.T / 4.0
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = weights @ v / weights.sum(axis=1, keepdims=True)
    error = np.abs(attention(q, k, v) - expected).max()
    assert error < 1e-5
    print(f"largest difference from NumPy: {error:.1e}")
    save_if_asked(picture)


if __name__ == "__main__":
    main()
