"""Texts that try to act on whoever reads them; each is to be read as the letters that it is."""

from __future__ import annotations

MARK = "reached"
"""What a script of these texts would say."""
HOSTILE = (
    f"<script>alert('{MARK}')</script>",
    f"<img src=x onerror=\"alert('{MARK}')\">",
    f"</pre></details><svg onload=\"alert('{MARK}')\">",
    f"<a href=\"javascript:alert('{MARK}')\">click</a>",
    '"><iframe src="http://evil.invalid/frame"></iframe>',
    "<link rel=stylesheet href=http://evil.invalid/x.css><style>*{display:none}</style>",
    '<form action="http://evil.invalid/"><button>Approve</button></form>',
    "<meta http-equiv=refresh content='0;url=http://evil.invalid/'>",
    "{{ 7 * 7 }} {% raw %} ${7*7} &lt;b&gt; &#60;i&#62;",
    "\x1b]0;title\x07\x1b[2J\x1b[31mred",
    "user = admin \u202e ; if not allowed \u2066 return \u2069 \u2067",
    "zero\u200bwidth\u200d joiner \ufeff and tags \U000e0041\U000e0042",
    "line\u2028separator\u2029paragraph\u0085next",
    "far" + " " * 300 + "to the right",
)
