// How the places where the NPWG specification and its users differ are decided (docs: decisions D-1, D-2, D-5, D-6, D-8, D-12).

/** One decision per field; start from a named profile and override single fields where a configuration says so. */
export interface NpwgProfile {
  readonly name: "strict" | "compat";
  /** D-1: an annotation with an invalid value fails the pod, or is ignored as a whole as 4.1.2.1.3 ff. say. */
  readonly invalidAnnotation: "fail" | "ignore";
  /** Multus' extensions of the selection: `name@ifname`, `deviceID`, `interfaceRequest`, null for an absent key. */
  readonly multusSelection: boolean;
  /** Lengths in bytes of a requested `mac`: 6 since version 1.2, also 20 (IP over InfiniBand) before. */
  readonly macLengths: readonly number[];
  /** D-8: `default-route` on one element only (4.1.2.1.9), or on one for each address family. */
  readonly defaultRoutes: "one" | "one-per-family";
  /**
   * D-2: `ips` or `mac` asked of a network none of whose plugins has the capability: refused (version 1.1), or passed in
   * `args.cni` as version 1.0 has it. The result is verified either way.
   */
  readonly missingCapability: "refuse" | "args";
  /** D-5: `ips` of the status with their prefix length (5.4), or bare as every consumer reads them. */
  readonly statusPrefix: boolean;
  /** D-6: `gateway` and `mtu` in the status beside what the specification names. */
  readonly statusMultusKeys: boolean;
  /** D-12: one status entry for each sandbox interface of a result, or for the first only (5.1.1). */
  readonly statusEveryInterface: boolean;
  /** Whether an address that names no interface is shown beside sandbox interfaces that are named; 5.3.3.1 leaves it out. */
  readonly statusUnboundAddresses: boolean;
}

/** The versions of the specification that Plexus implements; each adds to the one before it. */
export const implementedVersions: readonly string[] = ["1.0", "1.1", "1.2", "1.3"];

/** The specification's letter, version 1.3. */
export const strict: NpwgProfile = {
  name: "strict",
  invalidAnnotation: "ignore",
  multusSelection: false,
  macLengths: [6],
  defaultRoutes: "one",
  missingCapability: "refuse",
  statusPrefix: true,
  statusMultusKeys: false,
  statusEveryInterface: false,
  statusUnboundAddresses: false,
};

/** What users of Multus expect; the default. */
export const compat: NpwgProfile = {
  name: "compat",
  invalidAnnotation: "fail",
  multusSelection: true,
  macLengths: [6, 20],
  defaultRoutes: "one-per-family",
  missingCapability: "args",
  statusPrefix: false,
  statusMultusKeys: true,
  statusEveryInterface: true,
  statusUnboundAddresses: true,
};

/** The profile of a configuration's `profile` key. */
export function profileNamed(name: NpwgProfile["name"]): NpwgProfile {
  return name === "strict" ? strict : compat;
}
