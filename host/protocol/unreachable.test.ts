import { expect, test } from "vitest";
import { EACCES, EMSGSIZE } from "../system/errno.ts";
import { unreachable } from "./unreachable.ts";

test("a namespace that cannot be entered and an answer that is cut off are told apart", () => {
  expect(unreachable("NETLINK_FAILED", "links", "/run/netns/a", EACCES).msg).toBe(
    'links: the pod\'s network namespace "/run/netns/a" could not be entered: EACCES, permission denied',
  );
  expect(unreachable("NETLINK_FAILED", "links", "/run/netns/a", EMSGSIZE).msg).toMatch(
    /^links: the pod's network namespace "\/run\/netns\/a" was entered, and the kernel's answer is incomplete: EMSGSIZE/u,
  );
});
