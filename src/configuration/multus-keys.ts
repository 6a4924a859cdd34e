// Multus' configuration keys that Plexus does not use. They are accepted, so that a Multus configuration works unchanged; each
// has a text that says what to do instead. Multus reads them in its thin plugin (pkg/types), its daemon (pkg/server) and its
// generator of 00-multus.conf (pkg/server/config); some occur only in its documentation.

/** Each key with the end of a sentence: why the key has no effect, and what replaces it. */
export const idleMultusKeys: Readonly<Record<string, string>> = {
  allowTryDeleteOnErr: "Plexus always keeps what a DEL needs until it succeeded",
  chrootDir: "Plexus runs plugins where the runtime called it, so there is nothing to change root to",
  cniConfigDir: "plexusd, if it runs, has --cni-config-dir; else name the default network by clusterNetwork",
  connectionLimit:
    "the runtime bounds the number of its calls; plexusd, if it runs, bounds how many it serves and queues (--calls, --queue)",
  daemonSocketDir: "plexusd has --socket, and the shim PLEXUS_SOCKET",
  enablePprof: "Plexus has no such endpoint; plexusd has metrics (--metrics-listen)",
  forceCNIVersion: "results are converted to the version of the CNI configuration anyway",
  logOptions: "Plexus does not rotate logFile: let logrotate do it, with copytruncate or create",
  metricsPort: "a one-shot engine has no port; plexusd, if it runs, has --metrics-listen",
  multusAutoconfigDir: "plexusd writes the configuration with --cni-config-dir; else name the default network by clusterNetwork",
  multusConfigFile: "plexusd writes the configuration with --cni-config; else name the default network by clusterNetwork",
  multusMasterCNI: "plexusd has --cluster-network; else name the default network's file by clusterNetwork",
  overrideNetworkName: "set name in the CNI configuration, or in the template of plexusd",
  perNodeCertificate: "plexusd has --node-credentials; kubeconfig names other credentials, which each call reads anew",
  socketDir: "plexusd has --socket, and the shim PLEXUS_SOCKET",
};
