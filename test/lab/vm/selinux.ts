// A policy of SELinux for the virtual machine, whose kernel has SELinux: compiled by Debian's checkpolicy, which is unpacked and not installed.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { testCache, unpackPackages } from "../debian-packages.ts";

/** Arguments of the kernel, which otherwise chooses Debian's AppArmor. */
export const selinuxArguments = "security=selinux";

const source = "test/lab/vm/selinux-policy.conf";
const selinuxfs = "/sys/fs/selinux";

/** The shell command that loads the policy in the machine and enforces it. An object has the reason why there is no policy. */
export function loadPolicy(): string | { readonly reason: string } {
  const directory = join(testCache, "debian-checkpolicy");
  const reason = existsSync(directory) ? undefined : unpackPackages(["checkpolicy", "libsepol2"], directory);
  if (reason !== undefined) return { reason };
  const policy = join(testCache, "selinux-policy");
  const [libraries = ""] = readdirSync(join(directory, "lib")).filter((name) => name.includes("linux-gnu"));
  // -U allow: classes and permissions that the policy does not name are allowed.
  const made = spawnSync(join(directory, "usr/bin/checkpolicy"), ["-U", "allow", "-o", policy, source], {
    encoding: "utf8",
    env: { ...process.env, LD_LIBRARY_PATH: join(directory, "lib", libraries) },
  });
  if (made.status !== 0) return { reason: `checkpolicy: ${made.stderr ?? made.error}` };
  return `mount -t selinuxfs selinuxfs ${selinuxfs}\ncat '${policy}' >${selinuxfs}/load && echo 1 >${selinuxfs}/enforce`;
}
