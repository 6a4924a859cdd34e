// Waits until each node's pod of the DaemonSet is ready, or the time is over. Never fails an uninstallation: what a node has not done by then,
// its daemon does when it is stopped.
import { readFileSync } from "node:fs";

const { NAMESPACE, DAEMONSET, SECONDS, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, TOKEN_FILE } = process.env;
const host = KUBERNETES_SERVICE_HOST.includes(":") ? `[${KUBERNETES_SERVICE_HOST}]` : KUBERNETES_SERVICE_HOST;
const url = `https://${host}:${KUBERNETES_SERVICE_PORT}/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/${DAEMONSET}`;
const tokenFile = TOKEN_FILE ?? "/var/run/secrets/kubernetes.io/serviceaccount/token";
const end = Date.now() + Number(SECONDS) * 1000;
let last = "";
const say = (text) => {
  if (text !== last) process.stdout.write(`${text}\n`);
  last = text;
};

/** Whether all nodes are done, from one answer of the API server. */
async function look() {
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` };
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  const { metadata, status } = await answer.json();
  const { observedGeneration, desiredNumberScheduled: all, numberReady: done } = status;
  if (observedGeneration !== metadata.generation) return false;
  say(
    `${done} of ${all} nodes are done; the others wait for pods with further networks, which the log of their container "retire" names`,
  );
  return done >= all;
}

let done = false;
while (!done && Date.now() < end) {
  done = await look().catch((error) => say(`${url}: ${error.cause?.message ?? error.message}`));
  if (!done) await new Promise((resolve) => setTimeout(resolve, 1000));
}
if (!done) say("the time is over; the daemons remove their configuration when they are stopped");
