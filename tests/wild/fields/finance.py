"""Finance: prices, options, indicators, portfolios."""

import math

import numpy as np

from tests.wild.compilers import njit, prange


@njit
def norm_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


@njit
def black_scholes(S, K, T, r, sigma, call=True):
    d1 = (math.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    if call:
        return S * norm_cdf(d1) - K * math.exp(-r * T) * norm_cdf(d2)
    return K * math.exp(-r * T) * norm_cdf(-d2) - S * norm_cdf(-d1)


@njit
def implied_vol(prices, S, K, T, r):
    """By bisection; NaN where the price is outside of what a volatility can give."""
    out = np.full(len(prices), np.nan)
    for i, price in enumerate(prices):
        lo, hi = 1e-4, 4.0
        if price < black_scholes(S, K, T, r, lo) or price > black_scholes(S, K, T, r, hi):
            continue
        for _ in range(60):
            mid = (lo + hi) / 2
            if black_scholes(S, K, T, r, mid) < price:
                lo = mid
            else:
                hi = mid
        out[i] = (lo + hi) / 2
    return out


@njit
def binomial_american_put(S, K, T, r, sigma, n):
    dt = T / n
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    q = (np.exp(r * dt) - d) / (u - d)
    disc = np.exp(-r * dt)
    prices = S * u ** np.arange(-n, n + 1)
    values = np.maximum(K - prices[::2], 0.0)
    for step in range(n - 1, -1, -1):
        values = disc * (q * values[1:] + (1 - q) * values[:-1])
        spot = S * u ** (2.0 * np.arange(step + 1) - step)
        values = np.maximum(values, K - spot)
    return values[0]


@njit
def monte_carlo_asian(S0, K, r, sigma, T, n_steps, n_paths, seed):
    np.random.seed(seed)
    dt = T / n_steps
    drift = (r - 0.5 * sigma * sigma) * dt
    vol = sigma * math.sqrt(dt)
    payoff = 0.0
    for _ in range(n_paths):
        s = S0
        total = 0.0
        for _ in range(n_steps):
            s *= math.exp(drift + vol * np.random.normal())
            total += s
        payoff += max(total / n_steps - K, 0.0)
    return math.exp(-r * T) * payoff / n_paths


@njit
def ema(x, span):
    alpha = 2 / (span + 1)
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


@njit
def macd(close, fast=12, slow=26, signal=9):
    line = ema(close, fast) - ema(close, slow)
    sig = ema(line, signal)
    return line, sig, line - sig


@njit
def rsi(close, period=14):
    delta = np.diff(close)
    up = np.where(delta > 0, delta, 0.0)
    down = np.where(delta < 0, -delta, 0.0)
    avg_up = up[:period].mean()
    avg_down = down[:period].mean()
    out = np.full_like(close, np.nan)
    for i in range(period, len(close)):
        if i > period:
            avg_up = (avg_up * (period - 1) + up[i - 1]) / period
            avg_down = (avg_down * (period - 1) + down[i - 1]) / period
        rs = avg_up / avg_down if avg_down > 0 else np.inf
        out[i] = 100 - 100 / (1 + rs)
    return out


@njit
def max_drawdown(equity):
    """The deepest fall, and where it begins and ends."""
    peak = equity[0]
    peak_at = 0
    worst = 0.0
    span = (0, 0)
    for i, v in enumerate(equity):
        if v > peak:
            peak, peak_at = v, i
        dd = (peak - v) / peak
        if dd > worst:
            worst = dd
            span = (peak_at, i)
    return worst, span


@njit
def crossover_trades(close, n_fast, n_slow):
    """Every trade as (bought at, sold at, gain); what is open at the end is sold."""
    trades = []
    entry = None
    for i in range(n_slow, len(close)):
        fast = close[i - n_fast : i].mean()
        slow = close[i - n_slow : i].mean()
        if entry is None and fast > slow:
            entry = i
        elif entry is not None and fast < slow:
            trades.append((entry, i, close[i] / close[entry] - 1))
            entry = None
    if entry is not None:
        trades.append((entry, len(close) - 1, close[-1] / close[entry] - 1))
    return trades


@njit
def bootstrap_mean(x, n, seed):
    np.random.seed(seed)
    means = np.empty(n)
    for b in range(n):
        pick = np.random.randint(0, len(x), len(x))
        means[b] = x[pick].mean()
    means.sort()
    return means[int(0.025 * n)], means[int(0.975 * n)]


@njit(parallel=True)
def portfolio_variance(weights, cov):
    total = 0.0
    for i in prange(len(weights)):
        for j in range(len(weights)):
            total += weights[i] * weights[j] * cov[i, j]
    return total


@njit
def irr(cashflows, guess=0.1):
    rate = guess
    for _ in range(100):
        npv, slope = 0.0, 0.0
        for t, c in enumerate(cashflows):
            npv += c / (1 + rate) ** t
            slope -= t * c / (1 + rate) ** (t + 1)
        if abs(npv) < 1e-9:
            return rate
        rate -= npv / slope
    return np.nan
