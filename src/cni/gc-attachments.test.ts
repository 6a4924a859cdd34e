import { expect, test } from "vitest";

import { staleAmong } from "./gc-attachments.ts";

const id = (containerId: string, ifname: string): { containerId: string; ifname: string } => ({ containerId, ifname });

test("L-43: what is not valid is stale, and an attachment is its container and its interface", () => {
  const cached = [id("a", "eth0"), id("a", "net1"), id("b", "eth0")];
  expect(staleAmong(cached, [id("a", "eth0"), id("b", "net1")])).toEqual([id("a", "net1"), id("b", "eth0")]);
  expect(staleAmong(cached, [])).toEqual(cached);
});
