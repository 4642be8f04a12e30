"""The thread pool: the code that runs parallel loops."""
