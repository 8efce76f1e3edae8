"""Sessions, the choice of an executor, and the change to a faster one while a program runs."""
