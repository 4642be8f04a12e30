"""InnerKernel: a script that is written for a ufunc, whose calls are calls of that ufunc."""

from __future__ import annotations

import weakref
from dataclasses import replace
from inspect import Signature
from types import FunctionType
from typing import Any, Protocol

from hybridjit.kept_property import kept_property
from hybridjit.kernel import Kernel
from hybridjit.runtime.dispatch.call_shape import CallShape
from hybridjit.runtime.dispatch.native_calls import NativeCalls


class Owner(Protocol):
    """What has inner kernels, and is called natively as they are."""

    native_calls: NativeCalls


class InnerKernel(Kernel[..., Any]):
    """A kernel whose parameters are the operands and outputs of its owner, in order."""

    def __init__(self, pyfunc: FunctionType, owner: Owner, fastmath: tuple[str, ...]) -> None:
        super().__init__(pyfunc, fastmath)
        self.native_calls = owner.native_calls
        self._owner = weakref.ref(owner)  # which has us

    def learn(self, call: CallShape) -> None:
        # Code for arrays that share memory takes one step after the other. What a call of the
        # owner means there is something else: all is read before anything is stored.
        owner = self._owner()
        if owner is not None and call.layout.is_disjoint:
            self.native_calls.learn(owner, replace(call, signature=self._of_owner))

    @kept_property
    def _of_owner(self) -> Signature:
        """The parameters as the owner has them: operands have no names."""
        parameters = [
            each if each.name == "out" else each.replace(kind=each.POSITIONAL_ONLY)
            for each in self.signature.parameters.values()
        ]
        return self.signature.replace(parameters=parameters)
