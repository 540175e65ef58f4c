"""Stops the world at every AWS call of a tool, in every way, and looks at what is left.

injector    clients that fail at one chosen call: before it, after it, or both ways of seeming
scenarios   calls of mutating tools, with what must be true once they are done
campaign    every fault at every call of every scenario, played to the end, as rows
__main__    `make faults`: the campaign as a table
"""
