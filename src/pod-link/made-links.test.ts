import { expect, it } from "vitest";

import { MadeLinks } from "./made-links.ts";

const shown = (index: number, mac: string) => ({
  index,
  name: `net${index}`,
  kind: "veth",
  mac,
  link: 7,
  linkNamespace: 0,
});
const identity = (index: number, mac: string) => ({ index, name: `net${index}`, kind: "veth", mac, peer: 7 });

it("keeps the last state of each link that the call made", () => {
  const made = new MadeLinks();
  made.changed(shown(2, "02:00:00:00:00:01"), true);
  made.changed(shown(3, "02:00:00:00:00:02"), true);
  made.changed(shown(2, "02:00:00:00:00:03"), false);
  expect(made.all).toEqual([identity(2, "02:00:00:00:00:03"), identity(3, "02:00:00:00:00:02")]);
});

it("has no link that the call only changed, or removed again", () => {
  const made = new MadeLinks();
  made.changed(shown(2, "02:00:00:00:00:01"), false);
  made.changed(shown(3, "02:00:00:00:00:02"), true);
  made.removed("net3");
  expect(made.all).toEqual([]);
});

it("knows nothing after a native plugin", () => {
  const made = new MadeLinks();
  made.changed(shown(2, "02:00:00:00:00:01"), true);
  made.nativePluginRan();
  expect(made.all).toBeUndefined();
});
