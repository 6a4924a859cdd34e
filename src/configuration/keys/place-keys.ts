// Where configurations, state and the cluster are found: directories, and the Kubernetes API.

import type { ObjectReader } from "../object-reader.ts";
import { defaultsOf, key, type ValuesOf } from "../table/key.ts";
import { absolutePath, boolean, count, matching, pathOrEmpty, plain } from "../table/kinds.ts";
import { section } from "../table/section.ts";
import { maxStepMs } from "./time-keys.ts";

/** The shim reads runDir from the configuration's text itself, without JSON's escapes: ASCII without the characters that JSON or Go's encoder escapes. */
const runDirRule = {
  pattern: /^\/[!#-%'-;=?-[\]-~]{0,255}$/,
  wanted: 'an absolute path of at most 256 ASCII characters, none of them a space, ", &, <, > or \\',
};

const kubernetesKeys = {
  budgetMs: key({
    kind: count(maxStepMs),
    about: "Total time for one call's requests to the API, retries included, in milliseconds; {usual} by default.",
    usual: 20_000,
  }),
  allowInsecure: key({
    kind: boolean,
    about:
      "Whether the kubeconfig may have insecure-skip-tls-verify; {usual} by default. With it, an attacker between node and API server can choose a pod's networks.",
    usual: false,
  }),
  resourceClaims: key({
    kind: boolean,
    about:
      "Whether a pod's resource claims (resource.k8s.io/v1) give networks their devices, besides the kubelet; {usual} by default. Only with the Kubernetes API, not with manifests. Needs the rights to get resourceclaims and to list resourceslices.",
    usual: false,
  }),
};

/** Settings of requests to the Kubernetes API. */
export type KubernetesConfiguration = ValuesOf<typeof kubernetesKeys>;

/** Multus' own `cniDir`. */
export const defaultMultusDirectory = "/var/lib/cni/multus";

export const placeKeys = {
  confDir: key({
    kind: absolutePath,
    about: "Directory of named configurations; {usual} by default.",
    usual: "/etc/cni/multus/net.d",
  }),
  cniConf: key({
    kind: pathOrEmpty,
    about: "The name of confDir in Multus' thin entrypoint; read as confDir, with a warning.",
    notice: (value) =>
      typeof value === "string" && value.startsWith("/")
        ? "configuration: cniConf is read as confDir; Multus itself ignores it: rename it"
        : undefined,
    isUnlisted: true,
  }),
  cniDir: key({
    kind: plain(absolutePath),
    about: "Directory of journal and result cache; {usual} by default.",
    usual: "/var/lib/cni/plexus",
    inCniOnly: true,
    locatesState: true,
  }),
  multusCniDir: key({
    kind: plain(absolutePath),
    about: "cniDir of a Multus that attached pods before; their DEL needs it; {usual} by default.",
    usual: defaultMultusDirectory,
  }),
  runDir: key({
    kind: plain(matching(runDirRule)),
    about:
      "Directory for state that a restart of the machine may remove; {usual} by default. The locks that bound one-shot engines lie beside it, in a directory with the further end .one-shot.",
    usual: "/run/plexus",
    inCniOnly: true,
    locatesState: true,
  }),
  kubeconfig: key({
    kind: pathOrEmpty,
    about: "The kubeconfig for the Kubernetes API. Without kubeconfig and manifests no pod is looked up.",
  }),
  kubernetes: key({
    kind: section(kubernetesKeys),
    about: "Requests to the Kubernetes API.",
    usual: defaultsOf(kubernetesKeys),
  }),
  manifests: key({
    kind: absolutePath,
    about: "A directory of Pods and NetworkAttachmentDefinitions instead of the API.",
  }),
};

/** The value of `confDir`, which counts before `cniConf`. */
export function configurationDirectory(reader: ObjectReader, { confDir, cniConf }: ValuesOf<typeof placeKeys>) {
  // In a lenient read a mistaken `confDir` is as none.
  const written = reader.value("confDir");
  const isRead = typeof written === "string" && written.startsWith("/") && !written.includes("\0");
  return { confDir: isRead ? confDir : (cniConf ?? confDir) };
}
