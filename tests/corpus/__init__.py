from tests.corpus import control, loops, scalars, statements

CORPUS = (*statements.CASES, *loops.CASES, *control.CASES, *scalars.CASES)
