// Components as OCI artifacts: pulled from registries and layouts, pushed there, listed on the node. A component that lies in a plugin directory runs
// without this feature, and its digest and signature are checked then (host/sandbox/provenance).

import type { Feature } from "../feature.ts";

/** The feature. */
export const components: Feature = {
  name: "components",
  keys: [],
  chartValues: ["components", "componentsPullSecret", "componentsAuthority"],
  errors: [
    "COMPONENT_OCCUPIED",
    "REFERENCE_INVALID",
    "ARTIFACT_NOT_FOUND",
    "REGISTRY_UNREACHABLE",
    "REGISTRY_UNAUTHORIZED",
    "REGISTRY_CREDENTIALS_INVALID",
    "REGISTRY_REFUSED",
  ],
  commands: async () => (await import("./ctl/commands.ts")).componentCommands,
};
