import { expect, it } from "vitest";
import { containerMemoryBytes } from "./container-memory.ts";

const mebibyte = 1024 * 1024;
const version2 = "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const version1 = "31 1 0:27 /kubepods/pod1/c1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";

function limit(membership: string, mounts: string, files: Readonly<Record<string, string>>): number | undefined {
  return containerMemoryBytes(membership, mounts, (path) => files[path] ?? "");
}

it("FI-03: the memory of a container is the least limit of its cgroup and those above it", () => {
  const files = {
    "/sys/fs/cgroup/memory.max": "max\n",
    "/sys/fs/cgroup/a/memory.max": `${512 * mebibyte}\n`,
    "/sys/fs/cgroup/a/b/memory.max": `${1024 * mebibyte}\n`,
  };
  expect(limit("0::/a/b\n", version2, files)).toBe(512 * mebibyte);
  expect(limit("0::/\n", version2, files)).toBeUndefined();
  // In a cgroup namespace the container's own cgroup is the root.
  expect(limit("0::/\n", version2, { "/sys/fs/cgroup/memory.max": String(1024 * mebibyte) })).toBe(1024 * mebibyte);
  // A cgroup outside of the namespace's root.
  expect(limit("0::/../x\n", version2.replace(" / ", " /kubepods/c1 "), { "/sys/fs/cgroup/memory.max": "4096" })).toBe(4096);
});

it("FI-03: version 1 has its own files, and a huge number for no limit", () => {
  const membership = "5:cpu,cpuacct:/x\n4:memory:/kubepods/pod1/c1\n";
  const file = "/sys/fs/cgroup/memory/memory.limit_in_bytes";
  expect(limit(membership, version1, { [file]: "268435456\n" })).toBe(256 * mebibyte);
  expect(limit(membership, version1, { [file]: "9223372036854771712\n" })).toBeUndefined();
  expect(limit("4:hugetlb,memory:/kubepods/pod1/c1\n", version1, { [file]: "1048576" })).toBe(mebibyte);
});

it("FI-03: a node without cgroups has no limit", () => {
  expect(limit("", "", {})).toBeUndefined();
  expect(limit("0::/a\n", "", {})).toBeUndefined();
});
