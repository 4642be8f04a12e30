"""The kernels on grids as loops over elements: stencils, and solvers along one axis."""

from __future__ import annotations

from typing import Any

import numpy

np: Any = numpy
Array = Any
BET_M = 0.5
BET_P = 0.5


def jacobi_1d(TSTEPS: int, A: Array, B: Array):
    n = A.shape[0]
    for _ in range(1, TSTEPS):
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


def jacobi_2d(TSTEPS: int, A: Array, B: Array):
    n, m = A.shape
    for _ in range(1, TSTEPS):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


def seidel_2d(TSTEPS: int, N: int, A: Array):
    for _ in range(TSTEPS - 1):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                above = A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                below = A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                A[i, j] = (above + A[i, j - 1] + A[i, j] + A[i, j + 1] + below) / 9


def fdtd_2d(TMAX: int, ex: Array, ey: Array, hz: Array, _fict_: Array):
    nx, ny = ex.shape
    for t in range(TMAX):
        for j in range(ny):
            ey[0, j] = _fict_[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def vadv(
    utens_stage: Array, u_stage: Array, wcon: Array, u_pos: Array, utens: Array, dtr_stage: float
):
    ni, nj, nk = utens_stage.shape
    ccol = np.zeros(nk, utens_stage.dtype)
    dcol = np.zeros(nk, utens_stage.dtype)
    for i in range(ni):
        for j in range(nj):
            for k in range(nk):
                acol = 0 * dtr_stage
                upper = 0 * dtr_stage
                bcol = dtr_stage
                correction = 0 * dtr_stage
                if k > 0:
                    gav = -0.25 * (wcon[i + 1, j, k] + wcon[i, j, k])
                    acol = gav * BET_P
                    bcol -= acol
                    correction -= gav * BET_M * (u_stage[i, j, k - 1] - u_stage[i, j, k])
                if k < nk - 1:
                    gcv = 0.25 * (wcon[i + 1, j, k + 1] + wcon[i, j, k + 1])
                    upper = gcv * BET_P
                    bcol -= upper
                    correction -= gcv * BET_M * (u_stage[i, j, k + 1] - u_stage[i, j, k])
                right = dtr_stage * u_pos[i, j, k] + utens[i, j, k] + utens_stage[i, j, k]
                right += correction
                if k > 0:
                    bcol -= ccol[k - 1] * acol
                    right -= dcol[k - 1] * acol
                ccol[k] = upper / bcol
                dcol[k] = right / bcol
            for k in range(nk - 1, -1, -1):
                if k < nk - 1:
                    dcol[k] -= ccol[k] * dcol[k + 1]
                utens_stage[i, j, k] = dtr_stage * (dcol[k] - u_pos[i, j, k])


def source_term(
    rho: float, dt: float, dx: float, dy: float, u: Array, v: Array, i: int, w: int, j: int, e: int
):
    """What drives the pressure at (i, j), with its western and eastern neighbours."""
    dudx = (u[i, e] - u[i, w]) / (2 * dx)
    dvdy = (v[i + 1, j] - v[i - 1, j]) / (2 * dy)
    cross = (u[i + 1, j] - u[i - 1, j]) / (2 * dy) * (v[i, e] - v[i, w]) / (2 * dx)
    return rho * (1 / dt * (dudx + dvdy) - dudx**2 - 2 * cross - dvdy**2)


def relax_pressure(p: Array, pn: Array, b: Array, dx: float, dy: float):
    ny, nx = p.shape
    scale = 2 * (dx**2 + dy**2)
    for i in range(ny):
        for j in range(nx):
            pn[i, j] = p[i, j]
    for i in range(1, ny - 1):
        for j in range(nx):
            w = (j - 1 + nx) % nx
            e = (j + 1) % nx
            along = (pn[i, e] + pn[i, w]) * dy**2
            across = (pn[i + 1, j] + pn[i - 1, j]) * dx**2
            p[i, j] = (along + across) / scale - dx**2 * dy**2 / scale * b[i, j]
    for j in range(nx):
        p[ny - 1, j] = p[ny - 2, j]
        p[0, j] = p[1, j]


def carried(f: Array, un: Array, vn: Array, i: int, w: int, j: int, rx: float, ry: float):
    """What the flow carries of `f` away from (i, j), upwind."""
    along = un[i, j] * rx * (f[i, j] - f[i, w])
    return along + vn[i, j] * ry * (f[i, j] - f[i - 1, j])


def spread(f: Array, i: int, w: int, j: int, e: int, sx: float, sy: float):
    """What diffusion brings of `f` to (i, j)."""
    along = sx * (f[i, e] - 2 * f[i, j] + f[i, w])
    return along + sy * (f[i + 1, j] - 2 * f[i, j] + f[i - 1, j])


def total(f: Array):
    result = 0.0
    for i in range(f.shape[0]):
        for j in range(f.shape[1]):
            result += f[i, j]
    return result


def stop_at_walls(f: Array):
    ny, nx = f.shape
    for j in range(nx):
        f[0, j] = 0
        f[ny - 1, j] = 0


def channel_flow(
    nit: int,
    u: Array,
    v: Array,
    dt: float,
    dx: float,
    dy: float,
    p: Array,
    rho: float,
    nu: float,
    F: float,
):
    ny, nx = u.shape
    un = np.zeros((ny, nx), u.dtype)
    vn = np.zeros((ny, nx), u.dtype)
    pn = np.zeros((ny, nx), u.dtype)
    b = np.zeros((ny, nx), u.dtype)
    rx = dt / dx
    ry = dt / dy
    sx = nu * dt / dx**2
    sy = nu * dt / dy**2
    udiff = 1.0
    stepcount = 0
    while udiff > 0.001:
        for i in range(ny):
            for j in range(nx):
                un[i, j] = u[i, j]
                vn[i, j] = v[i, j]
        for i in range(1, ny - 1):
            for j in range(nx):
                w = (j - 1 + nx) % nx
                e = (j + 1) % nx
                b[i, j] = source_term(rho, dt, dx, dy, u, v, i, w, j, e)
        for _ in range(nit):
            relax_pressure(p, pn, b, dx, dy)
        for i in range(1, ny - 1):
            for j in range(nx):
                w = (j - 1 + nx) % nx
                e = (j + 1) % nx
                push = dt / (2 * rho * dx) * (p[i, e] - p[i, w])
                lift = dt / (2 * rho * dy) * (p[i + 1, j] - p[i - 1, j])
                u[i, j] = un[i, j] - carried(un, un, vn, i, w, j, rx, ry) - push
                u[i, j] += spread(un, i, w, j, e, sx, sy) + F * dt
                v[i, j] = vn[i, j] - carried(vn, un, vn, i, w, j, rx, ry) - lift
                v[i, j] += spread(vn, i, w, j, e, sx, sy)
        stop_at_walls(u)
        stop_at_walls(v)
        udiff = (total(u) - total(un)) / total(u)
        stepcount += 1
    return stepcount
