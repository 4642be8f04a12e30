"""Graphs, as CSR arrays, edge lists or matrices."""

import numpy as np

from tests.wild.compilers import njit


@njit
def bfs(indptr, indices, source):
    dist = np.full(len(indptr) - 1, -1)
    dist[source] = 0
    queue = [source]
    head = 0
    while head < len(queue):
        u = queue[head]
        head += 1
        for v in indices[indptr[u] : indptr[u + 1]]:
            if dist[v] == -1:
                dist[v] = dist[u] + 1
                queue.append(v)
    return dist


@njit
def connected_components(n, edges):
    parent = np.arange(n)

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for a, b in edges:
        ra, rb = find(a), find(b)
        if ra != rb:
            parent[rb] = ra
    return np.array([find(i) for i in range(n)])


@njit
def dijkstra(indptr, indices, weights, source):
    """With a binary heap of our own: two lists side by side."""
    n = len(indptr) - 1
    dist = np.full(n, np.inf)
    dist[source] = 0.0
    heap_d = [0.0]
    heap_v = [source]
    while heap_d:
        d, u = heap_d[0], heap_v[0]
        last_d, last_v = heap_d.pop(), heap_v.pop()
        m = len(heap_d)
        if m:
            i = 0
            while True:
                c = 2 * i + 1
                if c >= m:
                    break
                if c + 1 < m and heap_d[c + 1] < heap_d[c]:
                    c += 1
                if heap_d[c] >= last_d:
                    break
                heap_d[i], heap_v[i] = heap_d[c], heap_v[c]
                i = c
            heap_d[i], heap_v[i] = last_d, last_v
        if d > dist[u]:
            continue
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            nd = d + weights[k]
            if nd < dist[v]:
                dist[v] = nd
                heap_d.append(nd)
                heap_v.append(v)
                i = len(heap_d) - 1
                while i > 0 and heap_d[(i - 1) // 2] > heap_d[i]:
                    p = (i - 1) // 2
                    heap_d[p], heap_d[i] = heap_d[i], heap_d[p]
                    heap_v[p], heap_v[i] = heap_v[i], heap_v[p]
                    i = p
    return dist


@njit
def floyd_warshall(W):
    D = W.copy()
    n = D.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if D[i, k] + D[k, j] < D[i, j]:
                    D[i, j] = D[i, k] + D[k, j]
    for i in range(n):
        if D[i, i] < 0:
            raise ValueError("negative cycle")
    return D


@njit
def pagerank(A, d=0.85, eps=1e-10):
    n = A.shape[0]
    out = A.sum(axis=1)
    M = np.zeros((n, n))
    for i in range(n):
        if out[i] > 0:
            M[:, i] = A[i] / out[i]
        else:
            M[:, i] = 1.0 / n
    r = np.ones(n) / n
    while True:
        new = d * M @ r + (1 - d) / n
        if np.abs(new - r).sum() < eps:
            return new
        r = new


@njit
def topological_order(n, edges):
    """Kahn's algorithm; an empty list where there is a cycle."""
    indegree = np.zeros(n, np.int64)
    for _, b in edges:
        indegree[b] += 1
    ready = [i for i in range(n) if indegree[i] == 0]
    order = []
    while ready:
        u = ready.pop()
        order.append(u)
        for a, b in edges:
            if a == u:
                indegree[b] -= 1
                if indegree[b] == 0:
                    ready.append(b)
    if len(order) < n:
        return order[:0]
    return order


@njit
def kruskal(n, edges, weights):
    parent = list(range(n))
    total = 0.0
    chosen = []
    for e in np.argsort(weights):
        a, b = edges[e]
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        if a != b:
            parent[a] = b
            total += weights[e]
            chosen.append(e)
            if len(chosen) == n - 1:
                break
    return total, chosen


@njit
def count_triangles(adj):
    n = len(adj)
    return sum(
        1
        for i in range(n)
        for j in range(i)
        for k in range(j)
        if adj[i, j] and adj[j, k] and adj[i, k]
    )


@njit
def n_queens(n, row=0, cols=0, left=0, right=0):
    if row == n:
        return 1
    count = 0
    free = ~(cols | left | right) & ((1 << n) - 1)
    while free:
        bit = free & -free
        free ^= bit
        count += n_queens(n, row + 1, cols | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


@njit
def is_bipartite(adj):
    n = adj.shape[0]
    color = np.zeros(n, dtype=np.int8)
    for s in range(n):
        if color[s]:
            continue
        color[s] = 1
        todo = [s]
        while todo:
            u = todo.pop()
            for v in np.flatnonzero(adj[u]):
                if color[v] == color[u]:
                    return False
                if color[v] == 0:
                    color[v] = -color[u]
                    todo.append(v)
    return True
