// The controls of a sandbox process' jail. launcher.h has the same list: a control's place is its bit in the launcher's report.

/** All controls, in the order of the bits. */
export const controls = [
  "user-namespace",
  "pid-namespace",
  "network-namespace",
  "ipc-namespace",
  "uts-namespace",
  "files",
  "own-uid",
  "no-new-privileges",
  "no-capabilities",
  "system-calls",
  "landlock",
  "limits",
  "cgroup",
  "process-group",
] as const;

/** A control of the jail. */
export type Control = (typeof controls)[number];

/** For each control: the attacks that it stops, and its requirements of the node. */
export const controlTexts: Readonly<Record<Control, { readonly stops: string; readonly needs: string }>> = {
  "user-namespace": {
    stops: "rights over anything outside of the jail",
    needs: "user namespaces (sysctl user.max_user_namespaces; seccomp of the container)",
  },
  "pid-namespace": {
    stops: "signals to other processes, and children that outlive the sandbox process",
    needs: "user namespaces or CAP_SYS_ADMIN",
  },
  "network-namespace": { stops: "the node's network and abstract sockets", needs: "user namespaces or CAP_SYS_ADMIN" },
  "ipc-namespace": { stops: "System V IPC and message queues of the node", needs: "user namespaces or CAP_SYS_ADMIN" },
  "uts-namespace": { stops: "the node's host name", needs: "user namespaces or CAP_SYS_ADMIN" },
  files: {
    stops: "all files and sockets but Node, its libraries and the sandbox' code",
    needs: "Linux 5.12, and user namespaces or CAP_SYS_ADMIN",
  },
  "own-uid": {
    stops: "what the engine's user, or another sandbox process' user, may do",
    needs: "CAP_SETUID and CAP_SETGID, and the uids of --sandbox-uids or wasm.sandboxUids in the user namespace of the engine",
  },
  "no-new-privileges": { stops: "set-user-ID programs", needs: "Linux 3.5" },
  "no-capabilities": { stops: "every right of root", needs: "no condition" },
  "system-calls": { stops: "system calls that Node does not need", needs: "seccomp filters, on x86-64 or arm64" },
  landlock: {
    stops: "reading other files and any writing, a second time; TCP and signals on newer kernels",
    needs: "Linux 5.13 with landlock in the list of security modules (lsm=)",
  },
  limits: { stops: "core files, written bytes, descriptors, processes, memory beyond the bound", needs: "no condition" },
  cgroup: {
    stops: "memory and processes beyond the bound, as the kernel counts them",
    needs: "a delegated cgroup v2 with the controllers memory and pids (systemd: Delegate=yes)",
  },
  "process-group": { stops: "signals to the engine's process group", needs: "no condition" },
};

/** The controls of the launcher's bits. */
export function controlsOf(bits: number): ReadonlySet<Control> {
  return new Set(controls.filter((_, index) => (bits & (1 << index)) !== 0));
}

/** The controls that are missing, with what they need, in one phrase. */
export function missingText(missing: readonly Control[]): string {
  return missing.map((control) => `${control} (needs ${controlTexts[control].needs})`).join(", ");
}
