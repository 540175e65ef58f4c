"""The promise of one effect and one answer, attacked where stock Powertools breaks it.

world       one call as a Lambda process makes it, the record it leaves, threads as other processes
sides       the same tool twice: behind our layer, and behind stock Powertools
holes       what goes wrong with stock Powertools, as stories that both sides go through
__main__    the stories as a table
race        moto under threads, for the test of the lock that the tests rely on
"""
