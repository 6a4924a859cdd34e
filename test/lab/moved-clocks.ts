// A daemon loads this module before its program. It adds offsets to the daemon's clocks, so that a test can let them jump, stand still, or pass a wait.
// The file CLOCKS has both offsets in milliseconds: of the monotonic clock, and of the wall clock.

import { readFileSync } from "node:fs";

const file = process.env["CLOCKS"] ?? "";
const monotonic = performance.now.bind(performance);
const wall = Date.now.bind(Date);

function offset(index: number): number {
  return Number(readFileSync(file, "utf8").split(" ")[index]);
}

performance.now = () => monotonic() + offset(0);
Date.now = () => wall() + offset(1);
