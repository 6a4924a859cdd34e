import { expect, test } from "vitest";

import { fault } from "../fault/fault.ts";
import { deletionError } from "./deletion-error.ts";

test("RT-03: neither message nor details contain a phrase that go-cni ignores", () => {
  const reason = fault("STORE_FAILED", 'Link "x" not found, not found', { details: "stat /a: no such file or directory" });
  const reworded = deletionError(reason);
  expect(reworded.msg).toBe('Link "x" not-found, not-found');
  expect(reworded.details).toMatch(/^stat \/a: no-such-file-or-directory\n.*STORE_FAILED/);
  expect(deletionError(reworded)).toEqual(reworded);
});
