"""Physics: particles, fields, spins."""

import math
from collections import namedtuple

import numpy as np

from tests.wild.compilers import njit, prange

Body = namedtuple("Body", ["pos", "vel", "mass"])


@njit
def lennard_jones(pos, box, cutoff):
    n = pos.shape[0]
    force = np.zeros_like(pos)
    energy = 0.0
    rc2 = cutoff**2
    for i in range(n):
        for j in range(i + 1, n):
            d = pos[i] - pos[j]
            d -= box * np.round(d / box)
            r2 = np.dot(d, d)
            if r2 > rc2:
                continue
            s6 = (1.0 / r2) ** 3
            energy += 4 * s6 * (s6 - 1)
            f = 24 * s6 * (2 * s6 - 1) / r2 * d
            force[i] += f
            force[j] -= f
    return energy, force


@njit
def leapfrog(pos, vel, mass, dt, steps):
    def accel(pos, mass, eps=1e-3):
        n = len(mass)
        a = np.zeros_like(pos)
        for i in range(n):
            for j in range(n):
                if i != j:
                    d = pos[j] - pos[i]
                    a[i] += mass[j] * d / (np.sum(d**2) + eps) ** 1.5
        return a

    a = accel(pos, mass)
    for _ in range(steps):
        vel += 0.5 * dt * a
        pos += dt * vel
        a = accel(pos, mass)
        vel += 0.5 * dt * a
    return 0.5 * np.sum(mass * np.sum(vel**2, axis=1))


@njit
def ising(L, beta, sweeps, seed):
    np.random.seed(seed)
    spins = np.where(np.random.rand(L, L) < 0.5, -1, 1)
    mags = []
    for _ in range(sweeps):
        for _ in range(L * L):
            i = np.random.randint(L)
            j = np.random.randint(0, L)
            nb = spins[(i + 1) % L, j] + spins[i - 1, j] + spins[i, (j + 1) % L] + spins[i, j - 1]
            dE = 2 * spins[i, j] * nb
            if dE <= 0 or np.random.random() < math.exp(-beta * dE):
                spins[i, j] *= -1
        mags.append(abs(spins.mean()))
    return np.array(mags)


@njit
def heat_until(T, tol, max_iter=10000):
    """Laplace's equation by Gauss-Seidel; how many sweeps it took, or -1."""
    n, m = T.shape
    for it in range(max_iter):
        change = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new = 0.25 * (T[i - 1, j] + T[i + 1, j] + T[i, j - 1] + T[i, j + 1])
                change = max(change, abs(new - T[i, j]))
                T[i, j] = new
        if change < tol:
            return it + 1
    else:
        return -1


@njit
def wave_1d(n, steps, c=0.5):
    u_old = np.exp(-((np.linspace(-3, 3, n)) ** 2) * 4)
    u = u_old.copy()
    for _ in range(steps):
        u_new = np.zeros(n)
        u_new[1:-1] = 2 * u[1:-1] - u_old[1:-1] + c**2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u_old, u = u, u_new
    return u


@njit
def mandelbrot(re, im, max_iter):
    out = np.zeros((len(im), len(re)), dtype=np.int32)
    for i, y in enumerate(im):
        for j, x in enumerate(re):
            z = 0j
            c = complex(x, y)
            for k in range(max_iter):
                z = z * z + c
                if abs(z) > 2:
                    out[i, j] = k
                    break
            else:
                out[i, j] = max_iter
    return out


@njit
def step_body(body, dt):
    """One step in the field of a mass at the origin."""
    r = np.sqrt((body.pos**2).sum())
    acc = -body.pos / r**3
    vel = body.vel + dt * acc
    return Body(body.pos + dt * vel, vel, body.mass)


@njit
def energy_history(body, dt, n):
    out = np.empty(n)
    for k in range(n):
        body = step_body(body, dt)
        out[k] = 0.5 * body.mass * (body.vel**2).sum() - body.mass / np.sqrt((body.pos**2).sum())
    return out


@njit
def random_walk(n, seed):
    """Where the walk first comes home, or None."""
    np.random.seed(seed)
    x = y = 0
    for k in range(1, n + 1):
        d = np.random.randint(4)
        if d == 0:
            x += 1
        elif d == 1:
            x -= 1
        elif d == 2:
            y += 1
        else:
            y -= 1
        if x == y == 0:
            return k
    return -1


@njit
def cell_list(pos, box, rc):
    """Pairs nearer than rc, through cells."""
    n_cells = int(box // rc)
    size = box / n_cells
    head = -np.ones((n_cells, n_cells), dtype=np.int64)
    nxt = np.full(len(pos), -1)
    for i in range(len(pos)):
        cx, cy = int(pos[i, 0] / size) % n_cells, int(pos[i, 1] / size) % n_cells
        nxt[i] = head[cx, cy]
        head[cx, cy] = i
    pairs = []
    for cx in range(n_cells):
        for cy in range(n_cells):
            for ox, oy in [(0, 0), (1, 0), (1, 1), (0, 1), (-1, 1)]:
                i = head[cx, cy]
                while i >= 0:
                    j = (
                        nxt[i]
                        if ox == 0 and oy == 0
                        else head[(cx + ox) % n_cells, (cy + oy) % n_cells]
                    )
                    while j >= 0:
                        dx = pos[i, 0] - pos[j, 0]
                        dy = pos[i, 1] - pos[j, 1]
                        dx -= box * round(dx / box)
                        dy -= box * round(dy / box)
                        if dx * dx + dy * dy < rc * rc:
                            pairs.append((min(i, j), max(i, j)))
                        j = nxt[j]
                    i = nxt[i]
    return sorted(pairs)


@njit(parallel=True, fastmath=True)
def pi_by_darts(n):
    hits = 0
    for i in prange(n):
        x = (i * 0.7548776662466927) % 1.0
        y = (i * 0.5698402909980532) % 1.0
        if x * x + y * y <= 1:
            hits += 1
    return 4 * hits / n
