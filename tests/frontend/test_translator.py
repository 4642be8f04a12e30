"""The translator is one class in many files: a private name belongs to one of them."""

import hybridjit.frontend.parse as parse


def test_no_private_method_hides_another() -> None:
    translator = max(
        (cls for cls in vars(parse).values() if isinstance(cls, type)),
        key=lambda cls: len(cls.__mro__),
    )
    owners: dict[str, str] = {}
    for cls in translator.__mro__:
        for name, value in vars(cls).items():
            is_private = name.startswith("_") and not name.startswith("__")
            if is_private and callable(value):
                assert name not in owners, f"{cls.__name__} and {owners[name]} have a {name}"
                owners[name] = cls.__name__
