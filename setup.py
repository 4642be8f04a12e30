"""Name the packages: all of hybridjit/, and stdlib/ as hybridjit.stdlib.

hybridjit/stdlib is a link to stdlib/: by it, Python and type checkers find the operators in a
checkout that is not installed. A package does not need it, nor does a system without links.
"""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["hybridjit", "hybridjit.*"], exclude=["hybridjit.stdlib*"]),
        *(f"hybridjit.{name}" for name in find_packages(include=["stdlib", "stdlib.*"])),
    ],
)
