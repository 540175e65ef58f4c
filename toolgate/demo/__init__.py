"""`toolgate demo`: an agent patches a repository on the local cloud, and everything goes wrong.

command   the command: brings the local cloud up, plays the story, prints it
story     the steps, in order
stage     what the steps share: the agent, the workspace, what the tables say
scratch   a copy of this project to work on
diffs     what a careful model would write: diffs, and corrections from a report
"""
