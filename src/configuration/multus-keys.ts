// Keys of Multus' configurations that Plexus has no use for. They are known, so that a configuration of Multus works as it
// is, and each says what to do instead. Multus reads them in the configuration of its thin plugin (pkg/types), of its daemon
// (pkg/server) and of the generator of 00-multus.conf (pkg/server/config); some stand only in its documentation.

/** Each key with the end of a sentence: why it does nothing, and what takes its place. */
export const idleMultusKeys: Readonly<Record<string, string>> = {
  allowTryDeleteOnErr: "Plexus always keeps what a DEL needs until it succeeded",
  chrootDir: "Plexus runs plugins where the runtime called it, so there is nothing to change root to",
  cniConfigDir: "name the default network by clusterNetwork",
  connectionLimit:
    "the runtime bounds how many calls there are, and plexusd, where it runs, how many it serves (--calls, --queue)",
  daemonSocketDir: "there is no socket of a Multus daemon",
  enablePprof: "Plexus has no such endpoint; plexusd has metrics (--metrics-listen)",
  forceCNIVersion: "results are converted to the version of the CNI configuration anyway",
  logOptions: "Plexus does not rotate logFile: let logrotate do it, with copytruncate or create",
  metricsPort: "a one-shot call has no port; plexusd, where it runs, has --metrics-listen",
  multusAutoconfigDir: "Plexus generates no CNI configuration: name the default network by clusterNetwork",
  multusConfigFile: "Plexus generates no CNI configuration: name the default network by clusterNetwork",
  multusMasterCNI: "name the default network's file by clusterNetwork",
  overrideNetworkName: "set name in the CNI configuration",
  perNodeCertificate: "kubeconfig names the credentials; they are read anew by each call",
  socketDir: "there is no socket of a Multus daemon",
};
