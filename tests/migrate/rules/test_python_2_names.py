from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "import keras\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for i in xrange(3): pass", "for i in range(3): pass"),
        ("x = isinstance(y, (unicode, basestring))", "x = isinstance(y, (str, str))"),
        ("x = reduce(f, y)", "import functools\nx = functools.reduce(f, y)"),
        ("x = long(raw_input()) + len(unichr(3))", "x = int(input()) + len(chr(3))"),
        ("y = {}\nx = y.has_key(3) or y.itervalues()", "y = {}\nx = (3 in y) or y.values()"),
        ("x = not d.has_key((u, 3))", "x = not ((u, 3) in d)"),
        ("x = [k for k, v in d[3].iteritems()]", "x = [k for k, v in d[3].items()]"),
    ],
)
def test_names(before, after):
    check_transformed(f"{HEAD}{before}\n", f"{HEAD}{after}\n", unsafe="." in before)


def test_a_dict_is_a_guess():
    source = f"{HEAD}x = d.has_key(3)\n"
    check_noop(source, unsafe=False)
    assert found(source, "python-2-names") == [(2, "unsafe")]


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    xrange\nexcept NameError:\n    xrange = range\nxrange(3)\n",
        "from six.moves import xrange\nxrange(3)\n",
        "def f(long, unicode):\n    return long + unicode\n",
        "class D:\n    def has_key(self, k): return 3\n    def f(self): return self.has_key(3)\n",
        "import six\nsix.iteritems(d)\nd.iteritems\nd.has_key()\n",
    ],
)
def test_leaves_alone(source):
    check_noop(HEAD + source, rule="python-2-names")
