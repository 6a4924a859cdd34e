import { expect, test } from "vitest";

import { staleAmong, translateValid } from "./gc-attachments.ts";

const id = (containerId: string, ifname: string): { containerId: string; ifname: string } => ({ containerId, ifname });

test("L-43: what is not valid is stale, and an attachment is its container and its interface", () => {
  const cached = [id("a", "eth0"), id("a", "net1"), id("b", "eth0")];
  expect(staleAmong(cached, [id("a", "eth0"), id("b", "net1")])).toEqual([id("a", "net1"), id("b", "eth0")]);
  expect(staleAmong(cached, [])).toEqual(cached);
});

test("L-44: the runtime's list becomes the network's own, without what was made for nothing valid", () => {
  const made = [
    { requested: id("a", "eth0"), own: id("a", "net1") },
    { requested: id("a", "eth0"), own: id("a", "net2") },
    { requested: id("gone", "eth0"), own: id("gone", "net1") },
  ];
  expect(translateValid([id("a", "eth0"), id("never-made", "eth0")], made)).toEqual([id("a", "net1"), id("a", "net2")]);
});
