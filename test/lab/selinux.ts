// The policy of SELinux that the emulated machine loads for tests (test/lab/vm/selinux-policy.conf), and commands in its contexts.

import { existsSync, readFileSync } from "node:fs";
import type { PodNamespace } from "./namespaces.ts";
import type { Requirement } from "./requires.ts";

/** The context of a virtual machine's process. */
export const machineContext = "system_u:system_r:machine_t";
/** The context of a process of another pod. */
export const otherContext = "system_u:system_r:other_t";

/** Requires that the policy for tests is loaded and enforced. */
export const labPolicy: Requirement = () => {
  const enforced = "/sys/fs/selinux/enforce";
  const isEnforced = existsSync(enforced) && readFileSync(enforced, "utf8") === "1";
  return isEnforced && readFileSync("/proc/self/attr/current", "utf8").startsWith("system_u:system_r:node_t")
    ? undefined
    : "the machine does not enforce the tests' SELinux policy (npm run vm)";
};

/** Whether a process of a context may open the tap and remove it. */
export function removesTap(pod: PodNamespace, name: string, context: string): boolean {
  const remove = `printf %s '${context}' >/proc/self/attr/exec && exec ip tuntap del dev '${name}' mode tap`;
  return pod.exec(["sh", "-c", remove]).status === 0;
}
