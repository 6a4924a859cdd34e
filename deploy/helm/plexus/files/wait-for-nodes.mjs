// Waits until each node's pod of the DaemonSet is ready and of the current generation, or the time is over; then fails if LATE_STATUS says so. Before, removes the
// DaemonSet LEFTOVER of an interrupted `helm uninstall`. Helm's own --wait leaves out as many pods as may be unavailable in an update: on one node, all.
import { readFileSync } from "node:fs";

const { NAMESPACE, DAEMONSET, LEFTOVER, SECONDS, OTHERS, LATE, LATE_STATUS, REPLACES, TOKEN_FILE } = process.env;
const { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT } = process.env;
const host = KUBERNETES_SERVICE_HOST.includes(":") ? `[${KUBERNETES_SERVICE_HOST}]` : KUBERNETES_SERVICE_HOST;
const daemonSets = `https://${host}:${KUBERNETES_SERVICE_PORT}/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;
const url = `${daemonSets}/${DAEMONSET}`;
const tokenFile = TOKEN_FILE ?? "/var/run/secrets/kubernetes.io/serviceaccount/token";
const end = Date.now() + Number(SECONDS) * 1000;
let last = "";
const say = (text) => {
  if (text !== last) process.stdout.write(`${text}\n`);
  last = text;
};

let hasLeftover = LEFTOVER !== undefined;

function send(method, to) {
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` };
  return fetch(to, { method, headers, signal: AbortSignal.timeout(10_000) });
}

/** Whether all nodes are done, from one answer of the API server. */
async function look() {
  if (hasLeftover) {
    const removed = await send("DELETE", `${daemonSets}/${LEFTOVER}`);
    if (!removed.ok && removed.status !== 404) throw new Error(`DELETE of ${LEFTOVER}: HTTP ${removed.status}`);
    if (removed.ok) say(`removed ${LEFTOVER}, which an interrupted helm uninstall left`);
    hasLeftover = false;
  }
  const answer = await send("GET", url);
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  const { metadata, status } = await answer.json();
  const { observedGeneration, desiredNumberScheduled: all, numberReady, updatedNumberScheduled = 0 } = status;
  if (observedGeneration !== metadata.generation) return false;
  // With the update strategy OnDelete the administrator replaces the pods, at any time later.
  const done = REPLACES === "false" ? numberReady : Math.min(numberReady, updatedNumberScheduled);
  say(`${done} of ${all} nodes are done${done < all ? OTHERS : ""}`);
  return done >= all;
}

let done = false;
while (!done && Date.now() < end) {
  done = await look().catch((error) => say(`${url}: ${error.cause?.message ?? error.message}`));
  if (!done) await new Promise((resolve) => setTimeout(resolve, 250));
}
if (!done) {
  say(`the time is over${LATE}`);
  process.exitCode = Number(LATE_STATUS);
}
