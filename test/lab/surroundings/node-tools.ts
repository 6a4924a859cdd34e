// Shells, iptables, nft and shared libraries for containers whose image has other programs only: those of the node, mounted read-only.

/** The links of an image whose containers have the mounts below. */
export const toolLinks: Readonly<Record<string, string>> = {
  "/bin": "usr/bin",
  "/sbin": "usr/sbin",
  "/lib": "usr/lib",
  "/lib64": "usr/lib64",
};

// On Debian /usr/sbin/iptables leads to /etc/alternatives.
const directories = [
  ["node-usr", "/usr"],
  ["node-alternatives", "/etc/alternatives"],
] as const;

/** The volumes of a pod. */
export const toolVolumes: readonly object[] = directories.map(([name, path]) => ({
  name,
  hostPath: { path, type: "DirectoryOrCreate" },
}));

/** The mounts of a container. */
export const toolMounts: readonly object[] = directories.map(([name, mountPath]) => ({ name, mountPath, readOnly: true }));
