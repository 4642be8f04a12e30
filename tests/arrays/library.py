"""Expressions of random array scripts that call the rest of NumPy's functions.

A function is a text in one of the tables below. What NumPy refuses for the operands that were drawn
is not written, so a text says only what would make a result that cannot be compared.
"""

from __future__ import annotations

from tests.arrays.elements import Form, forms, of_one, of_two
from tests.arrays.pool import Writer

# -- element by element ----------------------------------------------------------------------------

_ONE: tuple[Form, ...] = (
    *forms("conjugate; real; imag; isreal; iscomplex; np.around({}, 1)", "exact"),
    *forms("fix; signbit; isneginf; isposinf; nan_to_num; spacing; around", "exact real"),
    *forms("np.heaviside({}, 0.5); np.modf({})[0]; np.modf({})[1]", "exact real"),
    *forms("reciprocal", "exact real divisor"),
    *forms("invert", "bits"),
    *forms("bitwise_count", "whole"),
    *forms("degrees; radians; deg2rad; rad2deg; sinc", "exact real small", "biuf", factor=60.0),
    *forms("arcsin; arccos; arctanh", "exact real small", "biuf"),
    *forms("np.arccosh(np.abs({}) + 1); np.log2(np.abs({}) + 1)", "exact real small", "biuf"),
    *forms("np.log10(np.abs({}) + 1); np.exp2({}); angle", "exact real small", "biuf", factor=1e3),
)
_TWO: tuple[Form, ...] = (
    *forms("np.fmax({}, {}); np.fmin({}, {}); np.copysign({}, {})", "exact real"),
    *forms("np.nextafter({}, {}); np.heaviside({}, {})", "exact real"),
    *forms("np.logical_or({}, {}); np.logical_xor({}, {})", "exact"),
    *forms("np.less_equal({}, {}); np.greater({}, {}); np.not_equal({}, {})", "exact real"),
    *forms("np.fmod({}, {}); np.remainder({}, {}); np.floor_divide({}, {})", "exact real divisor"),
    *forms("np.divmod({}, {})[0]; np.divmod({}, {})[1]", "exact real divisor"),
    *forms("np.divide({}, {})", "exact real"),
    *forms("np.bitwise_and({}, {}); np.bitwise_or({}, {}); np.bitwise_xor({}, {})", "bits"),
    *forms("np.left_shift({}, {} & 3); np.right_shift({}, {} & 3)", "whole"),
    *forms("np.gcd({}, {}); np.lcm({}, {})", "whole small"),
    *forms(
        "np.hypot({}, {}); np.logaddexp({}, {}); np.arctan2({}, {})", "exact real small", "biuf"
    ),
)

# -- other places ----------------------------------------------------------------------------------

_PLACES: tuple[Form, ...] = (
    *forms("np.roll({}, 1); np.roll({}, -3, axis=0); np.roll({}, 2, axis=-1)"),
    *forms("flipud; fliplr; rot90; squeeze; diagonal; matrix_transpose; atleast_1d; atleast_2d"),
    *forms("np.expand_dims({}, 0); np.expand_dims({}, -1); np.moveaxis({}, 0, -1)"),
    *forms("np.tile({}, 2); np.tile({}, (2, 1)); np.repeat({}, 2); np.repeat({}, 3, axis=0)"),
    *forms("np.take({}, 0); np.take({}, -1, axis=0); np.broadcast_to({}, (2, 3, 4))"),
    *forms("triu; tril; np.triu({}, 1); np.tril({}, -1); diag; diagflat"),
    *forms("np.pad({}, 1); np.pad({}, (2, 0)); np.pad({}, 2, mode='edge')"),
    *forms("np.pad({}, 1, mode='wrap'); np.pad({}, 1, mode='reflect')"),
    *forms("np.split({}, 2)[0]; np.array_split({}, 3)[-1]; np.array_split({}, 2, axis=-1)[0]"),
    *forms("np.full_like({}, 2); np.indices(({}).shape)[0]; np.swapaxes({}, 0, -1)"),
)
_JOINS: tuple[Form, ...] = (
    *forms("np.concatenate(({}, {})); np.concatenate(({}, {}), axis=-1); np.append({}, {})"),
    *forms("np.stack(({}, {})); np.stack(({}, {}), axis=-1); np.hstack(({}, {}))"),
    *forms("np.vstack(({}, {})); np.dstack(({}, {})); np.column_stack(({}, {}))"),
    *forms("np.meshgrid({}, {})[0]; np.meshgrid({}, {}, indexing='ij')[1]"),
    *forms("np.choose({} > 0, ({}, 1)); np.select([{} > 0], [{}], 2)", "exact real"),
)

# -- of many elements ------------------------------------------------------------------------------

_FOLDS: tuple[Form, ...] = (
    *forms("sort; np.sort({}, axis=0); np.argsort({}, kind='stable'); ptp", "exact real"),
    *forms("count_nonzero; np.count_nonzero({}, axis=0); unique; trim_zeros", "exact real"),
    *forms("nanmax; nanmin; np.nanmax({}, axis=0); nanargmax; nanargmin", "exact real"),
    *forms("diff; np.diff({}, axis=0); np.diff({}, 2); ediff1d", factor=4.0),
    *forms("cumsum; np.cumsum({}, axis=0); nancumsum; trace", rounds="fc", factor=100.0),
    *forms("nansum; np.nansum({}, axis=-1); nanmean; average", "real", "biuf", factor=100.0),
    *forms("median; np.median({}, axis=0); nanmedian", "exact real", "biuf"),
    *forms("np.quantile({}, 0.25); np.percentile({}, 40, axis=0)", "exact real", "biuf"),
    *forms("nanvar; nanstd; np.linalg.norm({})", "exact real small", "biuf", factor=1e3),
    *forms("np.gradient({}); np.trapezoid({})", "exact real small", "biuf", factor=10.0),
    *forms("np.bincount(np.ravel(np.abs({})))", "whole small"),
    *forms("np.fft.fft({}); np.fft.ifft({}); np.fft.rfft({})", "exact small", "biufc", factor=1e3),
    *forms("np.fft.fftshift({}); np.fft.ifftshift({})"),
    *forms("np.einsum('i...->...', {}); np.einsum('ij->ji', {})", rounds="fc", factor=100.0),
)
_PAIRS: tuple[Form, ...] = (
    *forms("np.isin({}, {}); np.union1d({}, {}); np.intersect1d({}, {})", "exact real"),
    *forms("np.setdiff1d({}, {}); np.setxor1d({}, {}); np.extract({} > 0, {})", "exact real"),
    *forms("np.searchsorted(np.sort(np.ravel({})), {})", "exact real"),
    *forms("np.interp({}, np.arange(4), np.arange(4) * 2)", "exact real", "biuf"),
    *forms("np.convolve({}, {}); np.correlate({}, {})", "exact small", "fc", multiplies=True),
    *forms("np.inner({}, {}); np.vdot({}, {}); np.kron({}, {})", "small", "fc", multiplies=True),
    *forms("np.tensordot({}, {}, 1)", "small", "fc", multiplies=True),
    *forms("np.isclose({}, {})", "exact real"),
    *forms("np.polyval({}, {})", "exact real small", "fc", factor=1e4),
)

LIBRARY: tuple[Writer, ...] = (
    *(of_one(*_ONE), of_two(*_TWO), of_one(*_PLACES)) * 2,
    *(of_two(*_JOINS), of_one(*_FOLDS), of_two(*_PAIRS)),
)
