"""Characters that are there without being seen, which a name must not be spelt around with.

Some file systems and most eyes pass over them, so rules about names are applied to what is left.
"""

from __future__ import annotations

import re
import unicodedata

# Default_Ignorable_Code_Point of Unicode 17.0 (DerivedCoreProperties.txt), unassigned ones
# included; the same since 14.0. Python has no table of this property.
_RANGES = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
_IGNORABLE = re.compile(f"[{''.join(f'{chr(low)}-{chr(high)}' for low, high in _RANGES)}]+")


def without_ignorable(text: str) -> str:
    """`text` without default-ignorable code points and without format characters (Cf)."""
    if text.isascii():
        return text
    rest = _IGNORABLE.sub("", text)
    return "".join([c for c in rest if unicodedata.category(c) != "Cf"])
