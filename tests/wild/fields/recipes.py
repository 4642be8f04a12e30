"""Numerical recipes: roots, quadrature, interpolation, linear systems, special functions."""

import math

import numpy as np

from tests.wild.compilers import njit


@njit
def bisect(lo, hi, tol):
    f_lo = lo**3 - 2 * lo - 5
    f_hi = hi**3 - 2 * hi - 5
    if f_lo * f_hi > 0:
        raise ValueError("the root is not bracketed")
    n = 0
    while hi - lo > tol:
        mid = 0.5 * (lo + hi)
        f_mid = mid**3 - 2 * mid - 5
        if f_mid == 0:
            return mid, n
        if f_lo * f_mid < 0:
            hi, f_hi = mid, f_mid
        else:
            lo, f_lo = mid, f_mid
        n += 1
    return 0.5 * (lo + hi), n


@njit
def newton_all(coefs, guesses, max_iter=50, tol=1e-12):
    """Roots found from each of the guesses, without repetition."""
    found = []
    for x in guesses:
        for _ in range(max_iter):
            p = 0.0
            dp = 0.0
            for c in coefs:
                dp = dp * x + p
                p = p * x + c
            if dp == 0.0:
                break
            step = p / dp
            x -= step
            if abs(step) < tol:
                if all(abs(x - r) > 1e-6 for r in found):
                    found.append(x)
                break
    return np.array(sorted(found))


@njit
def simpson_adaptive(a, b, eps):
    """Integral of exp(-x*x) with a stack in place of recursion."""

    def f(x):
        return math.exp(-x * x)

    def rule(fa, fm, fb, h):
        return h / 6 * (fa + 4 * fm + fb)

    m = 0.5 * (a + b)
    stack = [(a, b, f(a), f(m), f(b), eps)]
    total = 0.0
    while stack:
        a, b, fa, fm, fb, eps = stack.pop()
        m = 0.5 * (a + b)
        h = b - a
        flm = f(0.5 * (a + m))
        frm = f(0.5 * (m + b))
        left = rule(fa, flm, fm, h / 2)
        right = rule(fm, frm, fb, h / 2)
        delta = left + right - rule(fa, fm, fb, h)
        if abs(delta) <= 15 * eps:
            total += left + right + delta / 15
        else:
            stack.append((a, m, fa, flm, fm, eps / 2))
            stack.append((m, b, fm, frm, fb, eps / 2))
    return total


@njit
def romberg(n):
    R = np.zeros((n, n))
    h = np.pi
    R[0, 0] = 0.5 * h * (np.sin(0.0) + np.sin(np.pi))
    for i in range(1, n):
        h /= 2
        s = sum(np.sin((2 * k - 1) * h) for k in range(1, 2 ** (i - 1) + 1))
        R[i, 0] = 0.5 * R[i - 1, 0] + h * s
        for j in range(1, i + 1):
            R[i, j] = R[i, j - 1] + (R[i, j - 1] - R[i - 1, j - 1]) / (4**j - 1)
    return R[n - 1, n - 1]


@njit
def thomas(a, b, c, d):
    n = len(d)
    cp = np.empty(n)
    dp = np.empty_like(d)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = dp.copy()
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


@njit
def lu_solve(A, b):
    """Gaussian elimination with partial pivoting; raises if the matrix is singular."""
    A = A.copy()
    x = b.copy()
    n = A.shape[0]
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if A[p, k] == 0:
            raise ValueError("matrix is singular")
        if p != k:
            for j in range(n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
            x[k], x[p] = x[p], x[k]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i, k:] -= f * A[k, k:]
            x[i] -= f * x[k]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


@njit
def conjugate_gradient(A, b, tol=1e-10):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r
    rs = np.dot(r, r)
    for it in range(len(b) * 10):
        Ap = A @ p
        alpha = rs / np.dot(p, Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        rs_new = np.dot(r, r)
        if np.sqrt(rs_new) < tol:
            return x, it + 1
        p = r + rs_new / rs * p
        rs = rs_new
    return x, -1


@njit
def cubic_spline(x, y, xs):
    n = len(x)
    y2 = np.zeros(n)
    u = np.zeros(n)
    for i in range(1, n - 1):
        sig = (x[i] - x[i - 1]) / (x[i + 1] - x[i - 1])
        p = sig * y2[i - 1] + 2.0
        y2[i] = (sig - 1.0) / p
        u[i] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]) - (y[i] - y[i - 1]) / (x[i] - x[i - 1])
        u[i] = (6.0 * u[i] / (x[i + 1] - x[i - 1]) - sig * u[i - 1]) / p
    for k in range(n - 2, -1, -1):
        y2[k] = y2[k] * y2[k + 1] + u[k]
    out = np.empty(xs.shape)
    for j, v in enumerate(xs):
        lo, hi = 0, n - 1
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if x[mid] > v:
                hi = mid
            else:
                lo = mid
        h = x[hi] - x[lo]
        a = (x[hi] - v) / h
        b = (v - x[lo]) / h
        out[j] = a * y[lo] + b * y[hi] + ((a**3 - a) * y2[lo] + (b**3 - b) * y2[hi]) * h**2 / 6
    return out


@njit
def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)


@njit
def reduced_fractions(n):
    out = []
    for q in range(2, n + 1):
        for p in range(1, q):
            if gcd(p, q) == 1:
                out.append((p, q))
    return out


@njit
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@njit
def sieve(n):
    is_prime = np.ones(n + 1, dtype=np.bool_)
    is_prime[:2] = False
    i = 2
    while i * i <= n:
        if is_prime[i]:
            is_prime[i * i :: i] = False
        i += 1
    return np.nonzero(is_prime)[0]


@njit
def first_primes(n):
    out = [2]
    k = 3
    while len(out) < n:
        for p in out:
            if p * p > k:
                out.append(k)
                break
            if k % p == 0:
                break
        else:
            out.append(k)
        k += 2
    return out


@njit
def rk45(y0, t_end, tol):
    """Dormand-Prince style step control for the van der Pol oscillator, as lists of points."""

    def deriv(t, y, mu=1.5):
        return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    ts = [0.0]
    ys = [y0[0]]
    t = 0.0
    h = 0.01
    y = y0.copy()
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        k1 = deriv(t, y)
        k2 = deriv(t + h / 2, y + h / 2 * k1)
        k3 = deriv(t + 3 * h / 4, y + 3 * h / 4 * k2)
        y3 = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = deriv(t + h, y3)
        err = np.max(np.abs(h * (-5 * k1 + 6 * k2 + 8 * k3 - 9 * k4) / 72))
        if err < tol:
            t += h
            y = y3
            ts.append(t)
            ys.append(y[0])
        h *= min(2.0, max(0.2, 0.9 * (tol / err) ** (1 / 3))) if err > 0 else 2.0
    return np.array(ts), np.array(ys)


@njit
def nelder_mead(f0, step, max_iter):
    """Minimise the Rosenbrock function from `f0`."""

    def rosen(p):
        return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2

    n = len(f0)
    simplex = np.empty((n + 1, n))
    simplex[0] = f0
    for i in range(n):
        simplex[i + 1] = f0
        simplex[i + 1, i] += step
    values = np.array([rosen(p) for p in simplex])
    for _ in range(max_iter):
        order = np.argsort(values)
        simplex = simplex[order]
        values = values[order]
        if values[-1] - values[0] < 1e-10:
            break
        centroid = simplex[:-1].sum(axis=0) / n
        reflected = centroid + (centroid - simplex[-1])
        fr = rosen(reflected)
        if fr < values[0]:
            expanded = centroid + 2 * (centroid - simplex[-1])
            fe = rosen(expanded)
            if fe < fr:
                simplex[-1], values[-1] = expanded, fe
            else:
                simplex[-1], values[-1] = reflected, fr
        elif fr < values[-2]:
            simplex[-1], values[-1] = reflected, fr
        else:
            contracted = centroid + 0.5 * (simplex[-1] - centroid)
            fc = rosen(contracted)
            if fc < values[-1]:
                simplex[-1], values[-1] = contracted, fc
            else:
                for i in range(1, n + 1):
                    simplex[i] = simplex[0] + 0.5 * (simplex[i] - simplex[0])
                    values[i] = rosen(simplex[i])
    best = np.argmin(values)
    return simplex[best], values[best]
