// The sections of the CNI specification that the checks hold, by the name of their heading's anchor.

/** The version of the specification whose sections the checks name. */
export const specification = "https://github.com/containernetworking/cni/blob/spec-v1.1.0/SPEC.md";

/** Headings by a short name. */
export const sections = {
  parameters: { title: "Section 2: Parameters", anchor: "parameters" },
  errors: { title: "Section 2: Errors", anchor: "errors" },
  add: { title: "Section 2: ADD", anchor: "add-add-container-to-network-or-apply-modifications" },
  del: { title: "Section 2: DEL", anchor: "del-remove-container-from-network-or-un-apply-modifications" },
  check: { title: "Section 2: CHECK", anchor: "check-check-containers-networking-is-as-expected" },
  status: { title: "Section 2: STATUS", anchor: "status-check-plugin-status" },
  version: { title: "Section 2: VERSION", anchor: "version-probe-plugin-version-support" },
  gc: { title: "Section 2: GC", anchor: "gc-clean-up-any-stale-resources" },
  configuration: { title: "Section 1: Plugin configuration", anchor: "plugin-configuration-objects" },
  concurrency: { title: "Section 3: Lifecycle & Ordering", anchor: "lifecycle--ordering" },
  delegation: { title: "Section 4: Plugin Delegation", anchor: "section-4-plugin-delegation" },
  ipam: { title: "Section 5: Delegated plugins (IPAM)", anchor: "delegated-plugins-ipam" },
  success: { title: "Section 5: ADD Success", anchor: "add-success" },
  error: { title: "Section 5: Error", anchor: "error" },
  versionResult: { title: "Section 5: Version", anchor: "version" },
} as const;

export type SectionName = keyof typeof sections;

/** The address of a section. */
export function sectionUrl(name: SectionName): string {
  return `${specification}#${sections[name].anchor}`;
}
