"""Polynomial coefficients, constant term first; from tests/codegen/fit_math.py."""

from __future__ import annotations


def _read(text: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, text.split()))


# exp(r) = 1 + r + r**2 P(r), |r| <= ln2 / 2
EXP: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-28.3
        """
        0x1.fffffc0000000p-2
        0x1.5554920000000p-3
        0x1.5558f20000000p-5
        0x1.1239f00000000p-7
        0x1.6a23c20000000p-10
        """
    ),
    64: _read(  # error 2**-57.9
        """
        0x1.000000000000ap-1
        0x1.55555555554f9p-3
        0x1.5555555550886p-5
        0x1.1111111127ec4p-7
        0x1.6c16c18429abdp-10
        0x1.a01a012973146p-13
        0x1.a0199a0a0dac0p-16
        0x1.71df271f0eefdp-19
        0x1.28ad774cd3369p-22
        0x1.ad7ce2626745ep-26
        """
    ),
}

# expm1(r) = r + r**2 P(r), |r| <= ln2 / 2
EXPM1: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-32.0
        """
        0x1.0000000000000p-1
        0x1.5555560000000p-3
        0x1.5554ae0000000p-5
        0x1.11108e0000000p-7
        0x1.6d74980000000p-10
        0x1.a1a2480000000p-13
        """
    ),
    64: _read(  # error 2**-61.7
        """
        0x1.0000000000000p-1
        0x1.5555555555559p-3
        0x1.555555555555ap-5
        0x1.111111110f6a9p-7
        0x1.6c16c16c1445cp-10
        0x1.a01a01afe77c1p-13
        0x1.a01a01b0b2fddp-16
        0x1.71ddf84d1abffp-19
        0x1.27e4c5ab1f85dp-22
        0x1.af5ecb6764ddcp-26
        0x1.1f9550ae82115p-29
        """
    ),
}

# 2**r = 1 + r P(r), |r| <= 1/2
EXP2: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-28.9
        """
        0x1.62e4300000000p-1
        0x1.ebfbdc0000000p-3
        0x1.c6aee80000000p-5
        0x1.3b2d4e0000000p-7
        0x1.5f3e7c0000000p-10
        0x1.41fb4e0000000p-13
        """
    ),
    64: _read(  # error 2**-58.0
        """
        0x1.62e42fefa39efp-1
        0x1.ebfbdff82c5a4p-3
        0x1.c6b08d7049fe7p-5
        0x1.3b2ab6fba00fbp-7
        0x1.5d87fe78cd80ep-10
        0x1.4309130edf738p-13
        0x1.ffcbfba9370e2p-17
        0x1.62bfc78b511aap-20
        0x1.b5267d4de7c4dp-24
        0x1.e61b709fb8f80p-28
        0x1.e79b50ed849ccp-32
        """
    ),
}

# sinh(r) = r + r z P(z), z = r**2, |r| <= ln2 / 2
SINH: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-37.5
        """
        0x1.5555560000000p-3
        0x1.1110b20000000p-7
        0x1.a170020000000p-13
        """
    ),
    64: _read(  # error 2**-61.7
        """
        0x1.5555555555559p-3
        0x1.111111110f6afp-7
        0x1.a01a01afe5965p-13
        0x1.71ddf85092ae8p-19
        0x1.af5ec75667cd8p-26
        """
    ),
}

# cosh(r) = 1 + z P(z), z = r**2, |r| <= ln2 / 2
COSH: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-34.3
        """
        0x1.0000000000000p-1
        0x1.55547e0000000p-5
        0x1.6d97a20000000p-10
        """
    ),
    64: _read(  # error 2**-58.0
        """
        0x1.000000000000cp-1
        0x1.555555554ff92p-5
        0x1.6c16c185c33dcp-10
        0x1.a019965213d1cp-16
        0x1.28b07fd407c85p-22
        """
    ),
}

# log(1 + f) = f - f**2 / 2 + f**3 P(f), 1 + f in [sqrt(1/2), sqrt(2)]
LOG: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-27.4
        """
        0x1.5555540000000p-2
        -0x1.0002260000000p-2
        0x1.99a0080000000p-3
        -0x1.5472480000000p-3
        0x1.22da140000000p-3
        -0x1.0d851e0000000p-3
        0x1.055b9e0000000p-3
        -0x1.38b6d60000000p-4
        """
    ),
    64: _read(  # error 2**-59.3
        """
        0x1.555555555556bp-2
        -0x1.ffffffffffe7bp-3
        0x1.9999999994dccp-3
        -0x1.555555556b1e7p-3
        0x1.249249275d1abp-3
        -0x1.fffffff3a5a2dp-4
        0x1.c71c702e359a5p-4
        -0x1.99999aa0d050dp-4
        0x1.745d58ceaece6p-4
        -0x1.555576b5b32b9p-4
        0x1.3b0d78e66f825p-4
        -0x1.24894c283200ap-4
        0x1.1169ff7065c24p-4
        -0x1.00cfa3ff72e95p-4
        0x1.dc97c8696642bp-5
        -0x1.b45e8f270be05p-5
        0x1.bbacadc03b188p-5
        -0x1.0106933d9661bp-4
        0x1.d2b0d381650edp-5
        -0x1.8dbf163337dbcp-6
        """
    ),
}

# log2(1 + f) = f (c + P(f)), c = 0x1.7154760000000p+0, 1 + f as for LOG
LOG2: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-27.9
        """
        0x1.49de8e0000000p-26
        -0x1.7154700000000p-1
        0x1.ec70960000000p-2
        -0x1.715a760000000p-2
        0x1.277e380000000p-2
        -0x1.eabc8a0000000p-3
        0x1.a305940000000p-3
        -0x1.874bbe0000000p-3
        0x1.7d49ae0000000p-3
        -0x1.c25c400000000p-4
        """
    ),
}

# log10(1 + f) = f (c + P(f)), c = 0x1.bcb7b20000000p-2, 1 + f as for LOG
LOG10: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-27.9
        """
        -0x1.5bbed00000000p-27
        -0x1.bcb7aa0000000p-3
        0x1.287a720000000p-3
        -0x1.bcbeea0000000p-4
        0x1.63cf200000000p-4
        -0x1.2773ec0000000p-4
        0x1.f88d720000000p-5
        -0x1.d72acc0000000p-5
        0x1.cb1dc40000000p-5
        -0x1.0f24da0000000p-5
        """
    ),
}

# log2(1 + f) = f P(f), 1 + f as for LOG: for float32, in float64
LOG2_WIDE: dict[int, tuple[float, ...]] = {
    64: _read(  # error 2**-35.8
        """
        0x1.71547652a1e9bp+0
        -0x1.715476565ce49p-1
        0x1.ec709ebb9561fp-2
        -0x1.71547097f8bf3p-2
        0x1.277651fc12ecdp-2
        -0x1.ec72b57473e03p-3
        0x1.a63f4455dae74p-3
        -0x1.714173b2c5c7bp-3
        0x1.45291bbfc20dap-3
        -0x1.252f1ccc48b33p-3
        0x1.2871c093354b4p-3
        -0x1.248952f9cf23dp-3
        0x1.3ce9efd2e17e4p-4
        """
    ),
}

# log(1 + f) = 2 s + s z P(z), s = f / (2 + f), z = s**2, |s| <= 3 - sqrt(8)
LOG_RATIO: dict[int, tuple[float, ...]] = {
    64: _read(  # error 2**-58.5
        """
        0x1.5555555555593p-1
        0x1.999999997fca8p-2
        0x1.2492494201578p-2
        0x1.c71c51fb4bbd0p-3
        0x1.746641f8cb37ep-3
        0x1.39a16741ebd6fp-3
        0x1.2f08d726f9623p-3
        """
    ),
}

# log2(m) = 2/ln2 (s + s z / 3) + s z**2 P(z), s = (m - 1) / (m + 1), z = s**2
LOG2_RATIO: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-35.2
        """
        0x1.27770e0000000p-1
        0x1.a5bb6e0000000p-2
        0x1.59f9a00000000p-2
        """
    ),
    64: _read(  # error 2**-72.0
        """
        0x1.2776c50ef9bfcp-1
        0x1.a61762a7aefaep-2
        0x1.484b13d696416p-2
        0x1.0c9a85442ef6fp-2
        0x1.c68ee51866d16p-3
        0x1.8a0a498f8a2e3p-3
        0x1.58f26be4d69f2p-3
        0x1.623f56b004972p-3
        """
    ),
}

# sin(r) = r + r z P(z), z = r**2, |r| <= pi / 4
SIN: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-28.0
        """
        -0x1.5555460000000p-3
        0x1.11075e0000000p-7
        -0x1.994e0c0000000p-13
        """
    ),
    64: _read(  # error 2**-58.0
        """
        -0x1.5555555555549p-3
        0x1.111111110f87bp-7
        -0x1.a01a019c1178ep-13
        0x1.71de3577781ffp-19
        -0x1.ae5e65f1c67c7p-26
        0x1.5d92e5e59f3e0p-33
        """
    ),
}

# cos(r) = 1 - z / 2 + z**2 P(z), z = r**2, |r| <= pi / 4
COS: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-33.3
        """
        0x1.55554a0000000p-5
        -0x1.6c0c8a0000000p-10
        0x1.9a01ee0000000p-16
        """
    ),
    64: _read(  # error 2**-64.2
        """
        0x1.555555555554cp-5
        -0x1.6c16c16c15178p-10
        0x1.a01a019cb11fap-16
        -0x1.27e4f80972552p-22
        0x1.1ee9eb8ca3675p-29
        -0x1.8fae69a260b81p-37
        """
    ),
}

# tan(r) = r + r z P(z), z = r**2, |r| <= pi / 4
TAN: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-29.4
        """
        0x1.5555620000000p-2
        0x1.110d440000000p-3
        0x1.bae7fc0000000p-5
        0x1.5c3a180000000p-6
        0x1.65547e0000000p-7
        0x1.9c99b00000000p-18
        0x1.2162380000000p-8
        """
    ),
    64: _read(  # error 2**-59.8
        """
        0x1.555555555555ep-2
        0x1.1111111110550p-3
        0x1.ba1ba1bac54a7p-5
        0x1.664f485bfed1ep-6
        0x1.226e3aa22be6fp-7
        0x1.d6d2e30065ebap-9
        0x1.7db1c8ca98461p-10
        0x1.34ba29316f0f2p-11
        0x1.ff462764d5638p-13
        0x1.5e136b8da3cd2p-14
        0x1.1a8d8e7c21084p-14
        -0x1.b092920040c5cp-16
        0x1.98d2a70a8b5dbp-15
        -0x1.97e13c7d9e8d3p-16
        0x1.49001051672dep-17
        """
    ),
}

# atan(t) = t + t z P(z), z = t**2, |t| <= 1
ATAN: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-28.7
        """
        -0x1.5555400000000p-2
        0x1.9992760000000p-3
        -0x1.2426fa0000000p-3
        0x1.c0d28e0000000p-4
        -0x1.58dc860000000p-4
        0x1.dd0ef40000000p-5
        -0x1.01af960000000p-5
        0x1.6a8fa20000000p-7
        -0x1.defeca0000000p-10
        """
    ),
    64: _read(  # error 2**-57.7
        """
        -0x1.555555555552ap-2
        0x1.9999999995ae4p-3
        -0x1.24924923922adp-3
        0x1.c71c718424a2ep-4
        -0x1.745d11fb018efp-4
        0x1.3b136a15982e4p-4
        -0x1.110e6d8649318p-4
        0x1.e1bcf728ce384p-5
        -0x1.ae644ae47a537p-5
        0x1.82eea77c7a855p-5
        -0x1.59d7deb2900d8p-5
        0x1.2c97f4df87980p-5
        -0x1.eb48bbc9ce121p-6
        0x1.69d7f86aace0fp-6
        -0x1.ca96acd9ed904p-7
        0x1.dc03367a7c993p-8
        -0x1.7ea52cc352acdp-9
        0x1.ba3b14133d5c7p-11
        -0x1.44a2837f933c5p-13
        0x1.c4a0e43bba838p-17
        """
    ),
}

# asin(t) = t + t z P(z), z = t**2, |t| <= 1/2
ASIN: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-27.6
        """
        0x1.5555ca0000000p-3
        0x1.33013e0000000p-4
        0x1.748e640000000p-5
        0x1.8b8bc60000000p-6
        0x1.59f0320000000p-5
        """
    ),
    64: _read(  # error 2**-59.8
        """
        0x1.5555555555578p-3
        0x1.333333332df07p-4
        0x1.6db6db722be65p-5
        0x1.f1c71a8b763c3p-6
        0x1.6e8bdfea0f1bep-6
        0x1.1c49ddcd7679dp-6
        0x1.ca21486d58008p-7
        0x1.75777045625a0p-7
        0x1.618b453199cbdp-7
        0x1.e1543dca66d80p-9
        0x1.6503d5a92e07ep-6
        -0x1.59f8ba0d67855p-6
        0x1.0be4fd22a8610p-5
        """
    ),
}

# asinh(t) = t + t z P(z), z = t**2, |t| <= 1/2
ASINH: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-29.6
        """
        -0x1.5555360000000p-3
        0x1.33252c0000000p-4
        -0x1.6b9b860000000p-5
        0x1.cd9c000000000p-6
        -0x1.b209960000000p-7
        """
    ),
    64: _read(  # error 2**-60.4
        """
        -0x1.5555555555541p-3
        0x1.33333333307bfp-4
        -0x1.6db6db6baa2fbp-5
        0x1.f1c71baade4acp-6
        -0x1.6e8b8cc14343dp-6
        0x1.1c4d31253ec2fp-6
        -0x1.c97306ddea0b2p-7
        0x1.7942983c4fb90p-7
        -0x1.386cf6852e018p-7
        0x1.e9523b41e5746p-8
        -0x1.3736f5bbde6c3p-8
        0x1.c2983749d4e59p-10
        """
    ),
}

# erf(x) = x + x P(z), z = x**2, |x| <= 1
ERF: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-29.6
        """
        0x1.06eba80000000p-3
        -0x1.81273e0000000p-2
        0x1.ce2d1e0000000p-4
        -0x1.b7fb860000000p-6
        0x1.54186e0000000p-8
        -0x1.a479e40000000p-11
        0x1.4ac1b20000000p-14
        """
    ),
    64: _read(  # error 2**-62.8
        """
        0x1.06eba8214db69p-3
        -0x1.812746b0379e6p-2
        0x1.ce2f21a042b32p-4
        -0x1.b82ce31284ea4p-6
        0x1.565bcd0dbc158p-8
        -0x1.c02db3db01903p-11
        0x1.f9a321dc2406ap-14
        -0x1.f4d1e388c5fc4p-17
        0x1.b9df2767f9adbp-20
        -0x1.5f1ef250c5b23p-23
        0x1.f7b633289e900p-27
        -0x1.38a1412bf006fp-30
        0x1.0609142beb98bp-34
        """
    ),
}

# (1 + 2x) exp(x**2) erfc(x) = P(t), t = (x - 2) / (x + 2), 0 <= x
# (1 + 2x) exp(x**2) erfc(x) = P(t), t = (x - 4) / (x + 4), 0 <= x
ERFCX: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-26.2
        """
        0x1.46e80e0000000p+0
        -0x1.7bf5fa0000000p-4
        -0x1.5408560000000p-3
        0x1.4ffac00000000p-3
        -0x1.bc08ae0000000p-5
        -0x1.0767ca0000000p-7
        0x1.1ae6000000000p-7
        0x1.4872f20000000p-10
        -0x1.48de0c0000000p-10
        -0x1.668b660000000p-12
        0x1.4526a60000000p-15
        """
    ),
    64: _read(  # error 2**-59.3
        """
        0x1.3ba5916e9fd7fp+0
        -0x1.1df1ad154a28fp-3
        0x1.f7f5df66fd6dcp-7
        0x1.16ecefcfa54a3p-4
        -0x1.9ddb23c3e89c5p-4
        0x1.7fee004e0fe3cp-4
        -0x1.0fb06dfe54a06p-4
        0x1.3079edf6d44b7p-5
        -0x1.09623882b4e0ap-6
        0x1.49c6726f1e0d8p-8
        -0x1.8d4a9c3913fffp-11
        -0x1.a1df161d26d29p-13
        0x1.3be06abb07ffdp-13
        -0x1.995acf3365a8ep-16
        -0x1.788d9ad4ff9eap-17
        0x1.7f3486b4f144fp-18
        0x1.3bcf3c9f5ce89p-22
        -0x1.bb71ed74ebaf8p-21
        0x1.3e76161d3310ep-24
        0x1.d9f5820839bf3p-24
        -0x1.2c89ab1e317c8p-26
        -0x1.e3e9b37ac20f5p-27
        0x1.ce9ac642613e5p-30
        0x1.4a503af74f3acp-30
        """
    ),
}

# lgamma(2 + d) = (1 - euler) d + d**2 P(d), |d| <= 1/2
LGAMMA: dict[int, tuple[float, ...]] = {
    64: _read(  # error 2**-58.9
        """
        0x1.4a34cc4a60fa6p-2
        -0x1.13e001a557608p-4
        0x1.51322ac7d832ep-6
        -0x1.e404fc218e624p-8
        0x1.7add6eadfda32p-9
        -0x1.38ac5c2cf5f65p-10
        0x1.0b36af5902694p-11
        -0x1.d3fd4b8ee7561p-13
        0x1.a127cdca48c57p-14
        -0x1.78de95b03b2ebp-15
        0x1.5808a75fcde5dp-16
        -0x1.3cb4169b97e8bp-17
        0x1.262173975ca7bp-18
        -0x1.1274091324497p-19
        0x1.f02d09b18c1e4p-21
        -0x1.ce221078420acp-22
        0x1.271bcd0f392adp-22
        -0x1.203314646c65cp-23
        """
    ),
}

# lgamma(z) = (z - 1/2) log(z) - z + log(2 pi) / 2 + P(1 / z**2) / z, z >= 8
STIRLING: dict[int, tuple[float, ...]] = {
    64: _read(  # error 2**-60.6
        """
        0x1.5555555555555p-4
        -0x1.6c16c16c14af6p-9
        0x1.a01a017e8a731p-11
        -0x1.38134e1642214p-11
        0x1.b92c93971fb02p-11
        -0x1.ef98101bb6d10p-10
        0x1.4c384bb7d38a7p-8
        """
    ),
}

# m**(1/3), 1 <= m <= 2, a first guess
CBRT: dict[int, tuple[float, ...]] = {
    32: _read(  # error 2**-13.7
        """
        0x1.1b0b8e0000000p-1
        0x1.2c9a7e0000000p-1
        -0x1.4dc3c00000000p-3
        0x1.7a8e8a0000000p-6
        """
    ),
    64: _read(  # error 2**-19.6
        """
        0x1.e4b0b5064d8d9p-2
        0x1.ad237c1f92b42p-1
        -0x1.e07e03d6ebb65p-2
        0x1.9f4a71062f879p-3
        -0x1.9cc55bb42a562p-5
        0x1.5e870759701d0p-8
        """
    ),
}
