import { expect, it } from "vitest";
import { notGranted } from "./not-granted.ts";

it("E-7: a denied request names the key that would allow it, and the key's value", () => {
  const denied = { type: "bridge-adapter", key: "links.bridges", request: 'bridge "docker0"', granted: ["plexus0", "br-*"] };
  const { kind, code, msg } = notGranted(denied);
  expect({ kind, code, msg }).toEqual({
    kind: "NOT_GRANTED",
    code: 7,
    msg: 'bridge "docker0" is not granted: wasm.grants.bridge-adapter.links.bridges has plexus0, br-*',
  });
  expect(notGranted({ ...denied, granted: [] }).msg).toContain("links.bridges has nothing");
  const many = Array.from({ length: 25 }, (_, number) => `br${number}`);
  expect(notGranted({ ...denied, granted: many }).msg).toMatch(/br19 and 5 more$/);
  expect(notGranted({ ...denied, type: "a\u001b[2J" }).msg).not.toContain("\u001b");
});
