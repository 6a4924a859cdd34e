// Numbers that messages have in place of words (PROTOCOL.md).

/** The types of frames. */
export const TYPE = {
  request: 1,
  executed: 2,
  found: 3,
  content: 4,
  done: 5,
  agent: 6,
  reply: 16,
  exec: 17,
  find: 18,
  read: 19,
  netlink: 20,
  welcome: 21,
  sysctl: 22,
  packet: 23,
  tap: 24,
  ask: 25,
  changes: 26,
  zone: 27,
  "labelled-tap": 28,
} as const;

/** Kinds of outcomes, in the order of their numbers. */
export const OUTCOMES = ["exited", "signalled", "deadline-passed", "not-found", "not-startable", "text-busy"] as const;
/** Kinds of found files, in the order of their numbers. */
export const FOUND = ["nothing", "native", "component"] as const;
/** NETLINK_NETFILTER; NETLINK_ROUTE is 0. */
export const NETFILTER = 12;
/** A tap without an owner or a group. */
export const NO_ID = 0xffff_ffff;
/** Flags of an executed plugin. */
export const STDOUT_TRUNCATED = 1;
export const STDERR_TRUNCATED = 2;
