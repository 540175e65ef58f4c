"""The humans' side of approvals on their own machine: read what an agent asks for, and decide.

transport, identity   signed requests to the stage's API, as the person that AWS says you are
client                the API's questions, each answer checked
visible, rendering    what a call would do, for a person's eyes; hostile text is seen, not obeyed
review                both together: one approval, ready to be read
terminal, page        where it is read
"""
