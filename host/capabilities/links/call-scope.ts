// The scope of one call of a delegate, with what the call has learnt about links.

import type { LinkState } from "../../system/netlink/link-state.ts";
import type { LinkAliases } from "./link-aliases.ts";
import type { LinkScope } from "./link-scope.ts";

/** The scope of a call, the alternative names that it has used, and the pod's links that it has read since its last apply. */
export interface CallScope extends LinkScope {
  readonly aliases: LinkAliases;
  readonly readLinks: Map<string, LinkState>;
}
