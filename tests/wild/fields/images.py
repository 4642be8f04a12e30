"""Image processing: filters, thresholds, labels, warps."""

import numpy as np

from tests.wild.compilers import njit, prange


@njit(parallel=True)
def box_blur(img, r):
    h, w = img.shape
    out = np.zeros_like(img)
    for y in prange(h):
        for x in range(w):
            win = img[max(0, y - r) : min(h, y + r + 1), max(0, x - r) : min(w, x + r + 1)]
            out[y, x] = win.mean()
    return out


@njit
def median3(img):
    h, w = img.shape
    out = img.copy()
    window = np.empty(9, img.dtype)
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            k = 0
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    window[k] = img[y + dy, x + dx]
                    k += 1
            window.sort()
            out[y, x] = window[4]
    return out


@njit
def sobel(img):
    gx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    gy = gx.T
    h, w = img.shape
    mag = np.zeros((h, w))
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            patch = img[y - 1 : y + 2, x - 1 : x + 2]
            sx = np.sum(patch * gx)
            sy = np.sum(patch * gy)
            mag[y, x] = np.hypot(sx, sy)
    return mag / mag.max()


@njit
def otsu(img):
    hist = np.zeros(256, dtype=np.int64)
    for v in img.flat:
        hist[v] += 1
    total = img.size
    sum_all = 0.0
    for i in range(256):
        sum_all += i * hist[i]
    w_b = 0
    sum_b = 0.0
    best, threshold = -1.0, 0
    for t in range(256):
        w_b += hist[t]
        if w_b == 0:
            continue
        w_f = total - w_b
        if w_f == 0:
            break
        sum_b += t * hist[t]
        m_b = sum_b / w_b
        m_f = (sum_all - sum_b) / w_f
        between = w_b * w_f * (m_b - m_f) ** 2
        if between > best:
            best = between
            threshold = t
    return threshold


@njit
def flood_fill(img, seed, value):
    """Paint the region of the seed, a stack of points at hand; how many points were painted."""
    h, w = img.shape
    y, x = seed
    old = img[y, x]
    if old == value:
        return 0
    stack = [(y, x)]
    count = 0
    while len(stack) > 0:
        y, x = stack.pop()
        if y < 0 or y >= h or x < 0 or x >= w or img[y, x] != old:
            continue
        img[y, x] = value
        count += 1
        for dy, dx in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            stack.append((y + dy, x + dx))
    return count


@njit
def label(mask):
    """Connected components by union-find; labels from 1 on."""

    def find(parent, i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    h, w = mask.shape
    labels = np.zeros((h, w), np.int64)
    parent = [0]
    for y in range(h):
        for x in range(w):
            if not mask[y, x]:
                continue
            up = labels[y - 1, x] if y > 0 else 0
            left = labels[y, x - 1] if x > 0 else 0
            if up == 0 and left == 0:
                parent.append(len(parent))
                labels[y, x] = len(parent) - 1
            elif up and left:
                a, b = find(parent, up), find(parent, left)
                labels[y, x] = min(a, b)
                parent[max(a, b)] = min(a, b)
            else:
                labels[y, x] = up or left
    final = np.zeros(len(parent), np.int64)
    n = 0
    for i in range(1, len(parent)):
        root = find(parent, i)
        if root == i:
            n += 1
            final[i] = n
        else:
            final[i] = final[root]
    for idx in np.ndindex(h, w):
        labels[idx] = final[labels[idx]]
    return labels, n


@njit
def rotate(img, angle):
    h, w = img.shape
    out = np.zeros_like(img)
    c, s = np.cos(angle), np.sin(angle)
    cy, cx = (h - 1) / 2, (w - 1) / 2
    for y in range(h):
        for x in range(w):
            sy = c * (y - cy) - s * (x - cx) + cy
            sx = s * (y - cy) + c * (x - cx) + cx
            y0, x0 = int(np.floor(sy)), int(np.floor(sx))
            if not (0 <= y0 < h - 1 and 0 <= x0 < w - 1):
                continue
            fy, fx = sy - y0, sx - x0
            top = img[y0, x0] * (1 - fx) + img[y0, x0 + 1] * fx
            bottom = img[y0 + 1, x0] * (1 - fx) + img[y0 + 1, x0 + 1] * fx
            out[y, x] = top * (1 - fy) + bottom * fy
    return out


@njit
def integral_image(img):
    h, w = img.shape
    S = np.zeros((h + 1, w + 1), dtype=np.int64)
    for i in range(h):
        row = 0
        for j in range(w):
            row += img[i, j]
            S[i + 1, j + 1] = S[i, j + 1] + row
    return S[1:, 1:]


@njit
def rgb_to_hsv(rgb):
    out = np.empty(rgb.shape, np.float64)
    for i in range(rgb.shape[0]):
        for j in range(rgb.shape[1]):
            r, g, b = rgb[i, j] / 255
            mx, mn = max(r, g, b), min(r, g, b)
            d = mx - mn
            if d == 0:
                h = 0.0
            elif mx == r:
                h = (g - b) / d % 6
            elif mx == g:
                h = (b - r) / d + 2
            else:
                h = (r - g) / d + 4
            out[i, j] = 60 * h, (0 if mx == 0 else d / mx), mx
    return out


@njit
def local_maxima(img, threshold):
    """Where a pixel is above the threshold and all its neighbours."""
    h, w = img.shape
    points = []
    for y in range(h):
        for x in range(w):
            v = img[y, x]
            if v < threshold:
                continue
            peak = True
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    if dy == 0 and dx == 0:
                        continue
                    ny, nx = y + dy, x + dx
                    if 0 <= ny < h and 0 <= nx < w and img[ny, nx] >= v:
                        peak = False
                        break
                if not peak:
                    break
            if peak:
                points.append((y, x, v))
    return points


@njit
def crop_to_content(img, margin=0):
    """The smallest rectangle that holds all that is not zero: a view of the image."""
    ys, xs = np.nonzero(img)
    if len(ys) == 0:
        return img[:0, :0]
    top = max(ys.min() - margin, 0)
    bottom = min(ys.max() + margin + 1, img.shape[0])
    left = max(xs.min() - margin, 0)
    right = min(xs.max() + margin + 1, img.shape[1])
    return img[top:bottom, left:right]
