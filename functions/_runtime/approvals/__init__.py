"""Approvals: what people must agree to before a tool acts, by whom it was, and what became of it.

Three partitions of one table, so that IAM tells who may write what:

    REQ#{id}   what is asked, and by which operation it was used up     written by the tool
    DEC#{id}   what people said: the state, and one row a person        written by the humans' side
    AUD#{id}   the hash-chained events, each written once               written by both

A tool acts in a transaction that uses the request up on condition that the decision stands, so
neither side can do the other's part: a tool cannot vote, and people's side cannot act.
"""
