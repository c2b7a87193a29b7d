"""Run with `python3 -m unittest`."""

import io
import unittest
from contextlib import redirect_stderr

from function import run

LIST = """\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
functionConfig:
  apiVersion: v1
  kind: ConfigMap
  data:
    owner: OWNER
items:
- # the shop
  apiVersion: v1
  kind: Pod # the one
  metadata:
    name: web # do not rename
    annotations: # of the pod
      switch: on
      mode: 0777
      size: 1e3
      none: ~
      sign: +1
      quoted: 'single'
      time: 2001-12-14t21:59:43.10-05:00
  # last
"""


def output(text):
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stderr(stderr):
        code = run(io.StringIO(text), stdout)
    return code, stdout.getvalue()


class RunTest(unittest.TestCase):
    def test_only_the_owner_is_added(self):
        for given, written in [("team-a", "team-a"), ('"on"', '"on"'), ("'a: b'", '"a: b"')]:
            text = LIST.replace("OWNER", given)
            code, once = output(text)
            added = f"      example.com/owner: {written}\n  # last\n"
            self.assertEqual((code, once), (0, text.replace("  # last\n", added)))
            self.assertEqual(output(once), (0, once))

    def test_no_owner_is_an_error(self):
        code, text = output("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n")
        self.assertEqual(code, 1)
        self.assertIn("severity: error", text)

    def test_other_input_is_an_error(self):
        with self.assertRaises(ValueError):
            output("kind: Pod\n")


if __name__ == "__main__":
    unittest.main()
