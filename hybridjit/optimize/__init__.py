"""What makes programs fast without being asked, and how it is told.

Decisions are of three kinds. Those about array statements (fusion, products, folds), and which loop
goes along rows, are taken here, on the program, as steps of a schedule that build what is compiled.

Sums that run side by side, or stay in registers, are chosen here as well, but *marked* only: a loop
carries a hint (`sums_in_lanes`, `in_register`), and lowering builds what it says where it can prove
it. It cannot be built here, since much of it is legal in a version without checks only, which
hoist_checks makes (loops up to a size that is an argument; `x[columns[k]]` in an array that the
kernel made), or once the inits of sums stand in front of their loops, and since threads share
blocks of rows, with tiles inside of a block.

Those about lanes and threads are taken while a program is lowered, for a reason: whether iterations
may run side by side depends on where checks of indices end up, which the passes before
(check_bounds, hoist_checks, version_guards) find out by building it. To ask the same question
earlier is to run them earlier.

So such a decision stays where it is, and is *told*: a loop may carry a hint (`in_lanes`,
`on_threads`), which the pass takes in the place of its own choice, and proves as it would prove its
own. To find out what was chosen, the loops of a program are numbered by one more hint, the program
is lowered, and what the loops with these numbers have become is read off (lowering/choices.py): it
cannot be anything but the truth. The choices are the last steps of the receipt. Taken again they
lead to the same code; one that is changed, to another number of lanes, one that is left out, to
what the compiler chooses.

A hint that a user gave and that cannot be carried out is an error of the compilation, with the
reason (lowering/check_hints.py). Those of a receipt say `if_possible`: it is for other sizes and
machines, too, where a loop may need a check that it does not need here.

Loops that a step made (the packing of a GEMM, the rests of lanes) have no lanes and no marks in a
receipt: which ones there are depends on sizes, and a receipt is for other sizes, too. Those on
threads are named.
"""
