// Multus' configuration keys that Plexus does not use. They are accepted, so that a Multus configuration works unchanged; each
// has a text that says what to do instead. Multus reads them in its thin plugin (pkg/types), its daemon (pkg/server) and its
// generator of 00-multus.conf (pkg/server/config); some occur only in its documentation.

/** Each key with the end of a sentence: why the key has no effect, and what replaces it. */
export const idleMultusKeys: Readonly<Record<string, string>> = {
  allowTryDeleteOnErr: "Plexus always keeps what a DEL needs until it succeeded",
  chrootDir: "Plexus runs plugins where the runtime called it, so there is nothing to change root to",
  cniConfigDir: "name the default network by clusterNetwork",
  connectionLimit:
    "the runtime bounds the number of its calls; plexusd, if it runs, bounds how many it serves and queues (--calls, --queue)",
  daemonSocketDir: "there is no socket of a Multus daemon",
  enablePprof: "Plexus has no such endpoint; plexusd has metrics (--metrics-listen)",
  forceCNIVersion: "results are converted to the version of the CNI configuration anyway",
  logOptions: "Plexus does not rotate logFile: let logrotate do it, with copytruncate or create",
  metricsPort: "a one-shot engine has no port; plexusd, if it runs, has --metrics-listen",
  multusAutoconfigDir: "Plexus generates no CNI configuration: name the default network by clusterNetwork",
  multusConfigFile: "Plexus generates no CNI configuration: name the default network by clusterNetwork",
  multusMasterCNI: "name the default network's file by clusterNetwork",
  overrideNetworkName: "set name in the CNI configuration",
  perNodeCertificate: "kubeconfig names the credentials; they are read anew by each call",
  socketDir: "there is no socket of a Multus daemon",
};
