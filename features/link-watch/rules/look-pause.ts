// The pause after a look at a pod's links, whose length the pod decides by the number of its addresses: 16 MiB of them take the daemon a second.

/** Bytes of the kernel's answer that need no pause: some 3,000 addresses. */
const freeBytes = 262_144;
const bytesPerMs = 100;
const maxPauseMs = 300_000;

/** The pause before the next look, in ms: looks take no more than some 1 % of the daemon's time for a pod. */
export function lookPauseMs(bytes: number): number {
  return bytes <= freeBytes ? 0 : Math.min(maxPauseMs, Math.round(bytes / bytesPerMs));
}
