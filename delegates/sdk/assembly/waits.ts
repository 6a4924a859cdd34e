// Waits within the time of a call. A delegate has no clock: the call's `remainingMs` says how long the node lets it run.

/**
 * `milliseconds`, or half of `remainingMs` if that is less. The other half is for undoing: a delegate that answers in time names the cause and
 * undoes its changes, a delegate that the node ends can't.
 */
export function waitWithin(remainingMs: u32, milliseconds: u32): u32 {
  const half = remainingMs / 2;
  return half < milliseconds ? half : milliseconds;
}
