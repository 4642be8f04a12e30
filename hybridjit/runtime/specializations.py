"""The translations of one script, and which of them a call runs."""

from __future__ import annotations

from collections.abc import Callable

from hybridjit.codegen.forks import COMPILE_LOCK
from hybridjit.errors import HybridError
from hybridjit.runtime.promotion import Promotion
from hybridjit.runtime.specialization import Specialization
from hybridjit.runtime.translation import Request
from hybridjit.scalars.specs import Spec, with_free_sizes

Specs = tuple[Spec, ...]


class Specializations:
    """What a script was translated for so far, and why.

    `forget` is told of a translation that is no longer valid. The request that a caller passes says
    what is to be translated for arguments of some types.
    """

    def __init__(self, forget: Callable[[Specialization], None]) -> None:
        self.known: dict[Specs, Specialization] = {}
        self._forget = forget
        self._reasons: dict[Specs, str] = {}
        self._promotion = Promotion()

    def select(self, specs: Specs, request: Callable[[Specs], Request]) -> Specialization:
        """The translation to run: an exact one, or one whose sizes are known at run time."""
        known = self.known.get(specs)
        if known is not None and known.is_current():
            return known
        general, reason = self._promotion.generalize(specs)
        try:
            found = self.exact(general, request)
        except HybridError:
            # Some scripts need sizes as constants: `const_range(a.shape[0])`.
            found, general = self.exact(specs, request), specs
        self._reasons.setdefault(general, reason)
        return found

    def exact(self, specs: Specs, request: Callable[[Specs], Request]) -> Specialization:
        """The translation for arguments of these very types, made now if there is none.

        What is wrong for known sizes, as shapes that do not fit, may be in a branch that is not
        taken, and is told when the script runs: then ints that are sizes are left to run time.
        """
        try:
            return self._exact(specs, request)
        except HybridError:
            free = with_free_sizes(specs)
            if free == specs:
                raise
            return self._exact(free, request)

    def _exact(self, specs: Specs, request: Callable[[Specs], Request]) -> Specialization:
        with COMPILE_LOCK:
            known = self.known.get(specs)
            if known is not None:
                if known.is_current():
                    return known
                self._forget(known)
            made = self.known[specs] = Specialization(request(specs))
            return made

    def reason_for(self, specs: Specs) -> str:
        """Why there is a translation for these types."""
        return self._reasons.get(specs, "asked for")

    def clear(self) -> None:
        """Forget all translations; the next call starts afresh."""
        with COMPILE_LOCK:
            for specialization in self.known.values():
                self._forget(specialization)
            self.known.clear()
            self._reasons.clear()
            self._promotion = Promotion()
