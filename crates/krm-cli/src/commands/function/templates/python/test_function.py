"""Run with `python3 -m unittest`."""

import unittest

from function import OWNER, transform


def resource_list(config):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "annotations": {"a": "b"}}}
    return {"kind": "ResourceList", "items": [pod], "functionConfig": config}


class TransformTest(unittest.TestCase):
    def test_owner_is_set(self):
        for part in ["spec", "data"]:
            done = transform(resource_list({part: {"owner": "team-a"}}))
            annotations = done["items"][0]["metadata"]["annotations"]
            self.assertEqual(annotations, {"a": "b", OWNER: "team-a"})

    def test_no_owner_is_an_error(self):
        with self.assertRaises(ValueError):
            transform(resource_list({"data": {}}))


if __name__ == "__main__":
    unittest.main()
