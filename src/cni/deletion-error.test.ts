import { expect, test } from "vitest";

import { fault } from "../fault/fault.ts";
import { deletionError } from "./deletion-error.ts";

test("RT-03: what go-cni takes for a DEL that had nothing to do is in neither message nor details", () => {
  const reason = fault("STORE_FAILED", 'Link "x" not found, not found', { details: "stat /a: no such file or directory" });
  const told = deletionError(reason);
  expect(told.msg).toBe('Link "x" not-found, not-found');
  expect(told.details).toMatch(/^stat \/a: no-such-file-or-directory\n.*STORE_FAILED/);
  expect(deletionError(told)).toEqual(told);
});
