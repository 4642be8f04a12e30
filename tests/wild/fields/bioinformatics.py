"""Bioinformatics: sequences as arrays of small integers."""

import numpy as np

from tests.wild.compilers import njit


@njit
def levenshtein(a, b):
    if len(a) < len(b):
        a, b = b, a
    previous = np.arange(len(b) + 1)
    for i in range(len(a)):
        current = np.zeros(len(b) + 1, dtype=np.int64)
        current[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            current[j + 1] = min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost)
        previous = current
    return previous[-1]


@njit
def needleman_wunsch(s, t, match=1, mismatch=-1, gap=-2):
    """The score and the two aligned sequences, gaps as -1."""
    n, m = s.size, t.size
    F = np.zeros((n + 1, m + 1), np.int64)
    F[:, 0] = gap * np.arange(n + 1)
    F[0, :] = gap * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diag = F[i - 1, j - 1] + (match if s[i - 1] == t[j - 1] else mismatch)
            F[i, j] = max(diag, F[i - 1, j] + gap, F[i, j - 1] + gap)
    out_s, out_t = [], []
    i, j = n, m
    while i > 0 or j > 0:
        if (
            i > 0
            and j > 0
            and F[i, j] == F[i - 1, j - 1] + (match if s[i - 1] == t[j - 1] else mismatch)
        ):
            i -= 1
            j -= 1
            out_s.append(s[i])
            out_t.append(t[j])
        elif i > 0 and F[i, j] == F[i - 1, j] + gap:
            i -= 1
            out_s.append(s[i])
            out_t.append(-1)
        else:
            j -= 1
            out_s.append(-1)
            out_t.append(t[j])
    return F[n, m], np.array(out_s)[::-1], np.array(out_t)[::-1]


@njit
def smith_waterman(a, b):
    H = np.zeros((a.shape[0] + 1, b.shape[0] + 1), np.int32)
    best = 0
    where = (0, 0)
    for i in range(1, H.shape[0]):
        for j in range(1, H.shape[1]):
            score = 3 if a[i - 1] == b[j - 1] else -3
            H[i, j] = max(0, H[i - 1, j - 1] + score, H[i - 1, j] - 2, H[i, j - 1] - 2)
            if H[i, j] > best:
                best = H[i, j]
                where = (i, j)
    return best, where


@njit
def kmer_counts(seq, k):
    counts = np.zeros(4**k, dtype=np.uint32)
    code = 0
    mask = (1 << 2 * k) - 1
    valid = 0
    for base in seq:
        if base > 3:
            valid = 0
            code = 0
            continue
        code = ((code << 2) | base) & mask
        valid += 1
        if valid >= k:
            counts[code] += 1
    return counts


@njit
def gc_windows(seq, width, step):
    return np.array(
        [
            ((seq[i : i + width] == 1) | (seq[i : i + width] == 2)).mean()
            for i in range(0, len(seq) - width + 1, step)
        ]
    )


@njit
def open_reading_frames(seq, min_len):
    """(start, stop) of every run from ATG to a stop codon, in three frames."""
    orfs = []
    for frame in range(3):
        start = -1
        for i in range(frame, len(seq) - 2, 3):
            codon = seq[i] * 16 + seq[i + 1] * 4 + seq[i + 2]
            if start < 0 and codon == 14:
                start = i
            elif start >= 0 and codon in (48, 50, 56):
                if i - start >= min_len:
                    orfs.append((start, i + 3))
                start = -1
    return orfs


@njit
def viterbi(obs, log_start, log_trans, log_emit):
    n_states = log_trans.shape[0]
    T = len(obs)
    score = log_start + log_emit[:, obs[0]]
    back = np.zeros((T, n_states), dtype=np.int64)
    for t in range(1, T):
        new = np.empty(n_states)
        for j in range(n_states):
            cand = score + log_trans[:, j]
            back[t, j] = cand.argmax()
            new[j] = cand.max() + log_emit[j, obs[t]]
        score = new
    path = np.empty(T, dtype=np.int64)
    path[-1] = np.argmax(score)
    for t in range(T - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    return path, score.max()


@njit
def hamming_matrix(seqs):
    n = seqs.shape[0]
    D = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(i):
            D[i, j] = D[j, i] = np.count_nonzero(seqs[i] != seqs[j])
    return D


@njit
def upgma(D):
    """Merge the two nearest clusters until one is left: rows of (a, b, distance, size)."""
    n = D.shape[0]
    D = D.astype(np.float64)
    active = list(range(n))
    size = np.ones(2 * n - 1)
    full = np.full((2 * n - 1, 2 * n - 1), np.inf)
    full[:n, :n] = D
    merges = np.zeros((n - 1, 4))
    for step in range(n - 1):
        best = np.inf
        bi, bj = -1, -1
        for x in range(len(active)):
            for y in range(x + 1, len(active)):
                if full[active[x], active[y]] < best:
                    best = full[active[x], active[y]]
                    bi, bj = active[x], active[y]
        new = n + step
        size[new] = size[bi] + size[bj]
        active = [c for c in active if c != bi and c != bj]
        for c in active:
            d = (full[bi, c] * size[bi] + full[bj, c] * size[bj]) / size[new]
            full[new, c] = full[c, new] = d
        active.append(new)
        merges[step] = bi, bj, best, size[new]
    return merges
