from tests.corpus import control, loops, scalars, statements, functions, captures, memory, casts, mathematics
CORPUS = (*statements.CASES, *loops.CASES, *control.CASES, *scalars.CASES, *functions.CASES,*captures.CASES,*memory.CASES,*casts.CASES,*mathematics.CASES)
