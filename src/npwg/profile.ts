// Decisions where the NPWG specification and its users differ (the rows D-01 to D-12 of the checklist).

/** One decision per field. Start from a named profile and override the fields that a configuration sets. */
export interface NpwgProfile {
  readonly name: "strict" | "compat";
  /** D-01: an annotation with an invalid value fails the pod, or is ignored as a whole as 4.1.2.1.3 ff. say. */
  readonly invalidAnnotation: "fail" | "ignore";
  /** Multus' extensions of the selection: `name@ifname`, `deviceID`, `interfaceRequest`, null for an absent key. */
  readonly multusSelection: boolean;
  /** Lengths in bytes of a requested `mac`: 6 since version 1.2; older versions also allow 20 (IP over InfiniBand). */
  readonly macLengths: readonly number[];
  /** D-08: `default-route` on one element only (4.1.2.1.9), or on one element for each address family. */
  readonly defaultRoutes: "one" | "one-per-family";
  /**
   * D-02: `ips` or `mac` requested from a network without a plugin that has the capability: refused (version 1.1), or passed in
   * `args.cni` as in version 1.0. The result is verified in both cases.
   */
  readonly missingCapability: "refuse" | "args";
  /** D-05: `ips` of the status with their prefix length (5.4), or without it, as every consumer expects. */
  readonly statusPrefix: boolean;
  /** D-06: `gateway` and `mtu` in the status besides the specification's keys. */
  readonly statusMultusKeys: boolean;
  /** D-12: one status entry for each sandbox interface of a result, or only for the first (5.1.1). */
  readonly statusEveryInterface: boolean;
  /** Whether addresses without an interface are shown beside named sandbox interfaces; 5.3.3.1 omits them. */
  readonly statusUnboundAddresses: boolean;
}

/** The versions of the specification that Plexus implements; each extends the one before. */
export const implementedVersions: readonly string[] = ["1.0", "1.1", "1.2", "1.3"];

/** Exactly the specification, version 1.3. */
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

/** The behaviour that users of Multus expect; the default. */
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

/** The profile of a configuration's `profile` key; `multus` reads annotations as `compat` does. */
export function profileNamed(name: NpwgProfile["name"] | "multus"): NpwgProfile {
  return name === "strict" ? strict : compat;
}

/** The profile of a configuration, with its decisions of its own. */
export function profileOf({
  profile,
  invalidAnnotation,
}: {
  readonly profile: Parameters<typeof profileNamed>[0];
  readonly invalidAnnotation?: NpwgProfile["invalidAnnotation"] | undefined;
}): NpwgProfile {
  const named = profileNamed(profile);
  return invalidAnnotation === undefined ? named : { ...named, invalidAnnotation };
}
