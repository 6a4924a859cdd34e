// Notifications of RTNLGRP_LINK: links that were made, changed or removed.

import { IFINFOMSG, RTM_DELLINK, RTM_NEWLINK } from "./link-attributes.ts";
import { aligned, u16At, u32At } from "./bytes.ts";
import { type LinkState, linkStateIn } from "./link-state.ts";

/** One notification. A removed link has the state that it had last. */
export interface LinkEvent {
  readonly kind: "changed" | "gone";
  readonly link: LinkState;
}

const HEADER = 16;

/** The notifications in the kernel's messages, in order. A bridge's messages about its ports (AF_BRIDGE) are left out: the port itself stays. */
export function linkEventsIn(messages: Uint8Array): readonly LinkEvent[] {
  const events: LinkEvent[] = [];
  for (let at = 0; at + HEADER <= messages.length;) {
    const length = u32At(messages, at);
    if (length < HEADER || length > messages.length - at) break;
    const [type, body] = [u16At(messages, at + 4), messages.subarray(at + HEADER, at + length)];
    at += aligned(length);
    if ((type !== RTM_NEWLINK && type !== RTM_DELLINK) || body.length < IFINFOMSG || body[0] !== 0) continue;
    const link = linkStateIn({ type: RTM_NEWLINK, body });
    if (link !== undefined) events.push({ kind: type === RTM_NEWLINK ? "changed" : "gone", link });
  }
  return events;
}
