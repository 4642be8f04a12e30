"""The operator library, written in the language itself; installed as hybridjit.stdlib."""
