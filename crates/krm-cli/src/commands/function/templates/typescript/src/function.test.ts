import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./function.js";

const LIST = `apiVersion: config.kubernetes.io/v1
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
  spec:
    containers: # of the shop
    # the first
    - name: web
      # below the first
    # the second
    - name: logs
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
`;

test("only the owner is added", () => {
  for (const [given, written] of [["team-a", "team-a"], ['"on"', '"on"'], ["'a: b'", '"a: b"']]) {
    const list = LIST.replace("OWNER", given);
    const { output, error } = run(list);
    assert.equal(error, undefined);
    assert.equal(output, `${list}      example.com/owner: ${written}\n`);
    assert.equal(run(output).output, output);
  }
});

test("no owner is an error", () => {
  const { output, error } = run("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n");
  assert.equal(error, "the functionConfig has no `owner`");
  assert.match(output, /severity: error/);
});

test("other input is an error", () => {
  assert.throws(() => run("kind: Pod\n"));
});
