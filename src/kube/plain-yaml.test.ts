import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";

import { readPlainYaml } from "./plain-yaml.ts";

const multus = `# Kubeconfig file for Multus CNI plugin.
apiVersion: v1
kind: Config
clusters:
- name: local
  cluster:
    server: https://[10.96.0.1]:443
    certificate-authority-data: LS0tLS1CRUdJTg==
users:
- name: multus
  user:
    token: "eyJhbGciOi"
contexts:
- name: multus-context
  context:
    cluster: local
    user: multus
current-context: multus-context
`;
const kubectl = `---
apiVersion: v1
clusters:
  - cluster:
      insecure-skip-tls-verify: true
      server: 'https://it''s.example:6443'
    name: a
preferences: {}
users: []
extra:
contexts: null
`;

test.each([multus, kubectl])("kubeconfigs as programs write them are read", (text) => {
  expect(readPlainYaml(text)?.value).toEqual(parse(text));
});

test.each([
  ["an anchor", "a: &x b\nc: *x\n"],
  ["a tag", "a: !!str 5\n"],
  ["a folded text", "a: >-\n  b\n  c\n"],
  ["a text over two lines", "a: b\n  c\n"],
  ["a flow mapping", "a: {b: c}\n"],
  ["a comment behind a value", "a: b # c\n"],
  ["a key twice", "a: b\na: c\n"],
  ["a merge key", "<<: {a: b}\n"],
  ["a number", "a: 0x10\n"],
  ["a tab", "a:\n\tb: c\n"],
  ["two documents", "a: b\n---\nc: d\n"],
  ["a list of texts", "a:\n- b\n- c\n"],
  ["an odd indentation", "a:\n    b: c\n  d: e\n"],
  ["an escape that JSON lacks", 'a: "\\x41"\n'],
  ["nothing", ""],
])("%s is left to the full reader", (_, text) => {
  expect(readPlainYaml(text)).toBe(undefined);
});

const words = fc.stringMatching(/^[-A-Za-z0-9_/+.=:'"#&*!|>{}[\], ~]{0,12}$/);
const keys = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,6}$/).filter((key) => key !== "__proto__");
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.dictionary(
    keys,
    fc.oneof(
      { depthSize: "small" },
      words,
      fc.boolean(),
      fc.constant(null),
      tie("tree"),
      fc.array(tie("tree"), { maxLength: 3 }),
    ),
    { maxKeys: 4 },
  ),
}));

test("what is read is what a full reader reads, for any document", () => {
  const read = new Set<boolean>();
  fc.assert(
    fc.property(tree, (object) => {
      const text = stringify(object, { lineWidth: 0 });
      const plain = readPlainYaml(text);
      read.add(plain !== undefined);
      expect(plain?.value).toEqual(plain && parse(text));
    }),
    { numRuns: 500 },
  );
  expect(read).toEqual(new Set([true, false]));
});

test("what is read is what a full reader reads, for any lines", () => {
  const line = fc.tuple(
    fc.constantFrom("", "  ", "    ", "- ", "  - "),
    fc.oneof(
      words,
      keys.map((key) => `${key}:`),
      fc.tuple(keys, words).map((pair) => pair.join(": ")),
    ),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
      const text = lines.map((pair) => pair.join("")).join("\n");
      const plain = readPlainYaml(text);
      expect(plain?.value).toEqual(plain && parse(text));
    }),
    { numRuns: 3000 },
  );
});
