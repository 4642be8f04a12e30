"""Name the packages: all of hybridjit/, and stdlib/ as hybridjit.stdlib."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["hybridjit", "hybridjit.*"]),
        *(f"hybridjit.{name}" for name in find_packages(include=["stdlib", "stdlib.*"])),
    ]
)
