// Whether the kernel has what bounds of traffic need.

import { spawnSync } from "node:child_process";
import type { Requirement } from "./requires.ts";

/** The kernel must have ifb, tbf, htb, u32 and mirred, and tc must be on PATH. */
export const trafficControl: Requirement = () => {
  const script = `ip link add i0 type ifb && ip link set i0 up && tc qdisc add dev i0 root handle 1: htb && tc qdisc add dev lo root tbf rate 1mbit burst 10kb latency 1ms &&
    tc qdisc add dev lo ingress && tc filter add dev lo parent ffff: protocol all u32 match u32 0 0 action mirred egress redirect dev i0`;
  const tried = spawnSync("unshare", ["--net", "sh", "-c", script], { stdio: "ignore" });
  return tried.status === 0 ? undefined : "the kernel lacks ifb, tbf, htb, u32 or mirred, or there is no tc on PATH";
};
