import { expect, test } from "vitest";

import { staleAmong } from "./gc-attachments.ts";

const id = (containerId: string, ifname: string): { containerId: string; ifname: string } => ({ containerId, ifname });

test("L-43: an attachment is stale if the valid list lacks its container and interface", () => {
  const cached = [id("a", "eth0"), id("a", "net1"), id("b", "eth0")];
  expect(staleAmong(cached, [id("a", "eth0"), id("b", "net1")])).toEqual([id("a", "net1"), id("b", "eth0")]);
  expect(staleAmong(cached, [])).toEqual(cached);
});
