import { expect, it } from "vitest";
import { threadCpuMs } from "./thread-cpu.ts";

it("FI-13: CPU time comes from schedstat, or from stat on a kernel without it", () => {
  expect(threadCpuMs(7, (path) => (path === "/proc/7/schedstat" ? "1500000000 20 3\n" : ""))).toBe(1500);
  const stat = `7 (a b) c) S ${Array.from({ length: 10 }, () => 0).join(" ")} 120 30 0 0`;
  expect(threadCpuMs(7, (path) => (path === "/proc/7/task/7/stat" ? stat : ""))).toBe(1500);
  expect(threadCpuMs(7, () => "")).toBeUndefined();
  expect(threadCpuMs(process.pid)).toBeGreaterThan(0);
});
