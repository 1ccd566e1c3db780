"""Many machines with one vault: people and stores write on each, and what carries the files between them is real.

    python -m tests.simulation git --clones 20 --steps 3000 --seed 7
    python -m tests.simulation sync --folders 4 --steps 600 --seed 7 --tool syncthing

Every line of text that a person or an agent writes is one of a kind, and the simulation keeps a list of them, less
those that somebody took back; in the end each must still stand in a file that a person reads. All copies must be the
same then, with the same active set, and every sum must balance. The seed makes the run.
"""
