"""Tensor expressions to IR: what `hybridjit.te` offers is made here."""
