"""Search: among all the ways to run a program that are legal, find a fast one.

    template, or what the optimiser decides      a space: a function of a schedule that samples
        -> picks                                  where its choices fall: a candidate
        -> trace                                  the steps that came of it, checked one by one
        -> job, in a process of its own           compiled, compared with the plain program, timed
        -> measurement, database, model           what is proposed next

A candidate is a list of numbers, the places that its choices fall on. The same list leads to the
same steps, so a list is what is mutated and crossed; whatever comes of it is a schedule like any
other, legal or refused. Nothing that runs a candidate runs in the process of the user: it may
crash, hang or eat all memory there.
"""
