// The help text of plexusd.

import type { ResidentFeature } from "../../../features/resident-part.ts";
import { type DaemonCount, daemonCounts } from "../../../src/configuration/daemon-counts.ts";
import { defaultLeaseDirectory } from "../../../src/configuration/keys/grant-keys.ts";
import { defaultUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import { uidOptionText } from "../../../src/configuration/uid-option.ts";

const {
  calls,
  queue,
  sandboxes,
  graceMs,
  reconcileIntervalSeconds: interval,
  reconcileGraceSeconds: reconcileGrace,
} = daemonCounts;

const range = ({ min, max }: DaemonCount): string => `${min} to ${max}`;

/** The help text. */
// oxlint-disable-next-line max-lines-per-function -- one text
export const usageOf = (
  residents: readonly ResidentFeature[],
): string => `plexusd: the daemon of Plexus on a node (defaults in parentheses)

  --socket PATH         socket for the shim and the agent
                        (/run/plexus/plexus.sock)
  --status-socket PATH  socket for plexusctl and metrics
                        (status.sock beside the socket)
  --metrics-listen [ADDRESS:]PORT
                        serve /metrics, /healthz and /readyz over TCP, too;
                        the default address is 127.0.0.1 (no TCP)
  --otlp URL            OpenTelemetry collector for a span of each call and
                        step (none)
  --log-level LEVEL     debug, info, warn or error (info)
  --state-dir PATH      state directory (cniDir): reconciled, and in metrics
                        and status before the first call
                        (/var/lib/cni/plexus)
  --write-to PATH       by Landlock, the daemon changes only what is below this
                        directory, and its state and sockets; may be repeated
                        (it changes all that its user may)
  --uid UID             user and group of the daemon, which then has no right of
                        root; needs CAP_SETUID and CAP_SETGID (it keeps the user
                        that started it)
  --share-dir PATH      with --uid: a directory of leases or other state that
                        native plugins write, too; may be repeated
                        (${defaultLeaseDirectory} is shared always)
  --connect-to PATH     with --uid: a socket that root alone may use, such as
                        OVSDB's; may be repeated (the kubelet's pod-resources
                        socket always)
  --node-name NAME      this node's name in the Kubernetes API, for watching
                        its pods (NODE_NAME, else the host name)
  --kubeconfig PATH     cluster to watch before the first call (none)
  --cni-config-dir PATH the runtime's directory of network configurations, into
                        which Plexus' configuration is written (none)
  --cni-config PATH     the template: Plexus' configuration without a default
                        network
  --cni-config-name NAME
                        file name of the configuration (00-plexus.conflist)
  --cluster-network NAME
                        file name of the default network (the directory's first
                        network)
  --cni-bin-dir PATH    directory of plugins, in which the shim is expected and
                        links to it are recognised (/opt/cni/bin)
  --cni-foreign-steps POLICY
                        what happens to steps that other programs add to the
                        configuration: keep, if the plugin is installed, or
                        strip (keep)
  --service-account PATH
                        directory of the pod's service account, if the template
                        names no kubeconfig
                        (/var/run/secrets/kubernetes.io/serviceaccount)
  --api-server URL      API server for the service account
                        (KUBERNETES_SERVICE_HOST and _PORT)
  --node-credentials PATH
                        directory of a kubeconfig for one-shot engines, with a
                        token that is bound to the Node object (none)
${residents.map(({ usage }) => usage).join("")}  --calls N             maximum calls served at once, ${range(calls)} (${calls.usual}); a
                        Kubernetes namespace alone gets half of them
  --queue N             maximum calls that wait, ${range(queue)} (${queue.usual}); namespaces
                        take turns
  --sandboxes N         maximum sandbox processes with calls, ${range(sandboxes)} (one for
                        each CPU, at least 2)
  --isolation LEVEL     process: a sandbox process has every control of its jail
                        that the node has; strict: a process for each call, and
                        none without all controls (process)
  --sandbox-uids FIRST:COUNT
                        uids of sandbox processes, or: same, the daemon's uid,
                        which is unsafe (${uidOptionText(defaultUids)})
  --sandbox-start HOW   new: a sandbox process is a new Node; copy: it is a copy
                        of a warm process that has run no component, the zygote,
                        where the launch server can start it (new)
  --grace-ms N          milliseconds to wait for running calls when stopped,
                        ${range(graceMs)} (${graceMs.usual})
  --reconcile-interval S
                        seconds between rounds that remove stale attachments,
                        ${interval.min} (no rounds) to ${interval.max} (${interval.usual})
  --reconcile-grace S   seconds for which a network namespace must be gone
                        before its attachment is stale, ${range(reconcileGrace)} (${reconcileGrace.usual})
  --reconcile-dry-run   rounds only report
  --once                serve one call on file descriptor 3 and end; the shim
                        starts plexusd so if no daemon answers
  --help                show this text

See also docs/how-to/daemon-options.md.
`;
