// The readiness check of an API server.

import { request } from "node:https";

import { KubeConfig } from "@kubernetes/client-node";

/** Requests /readyz. Any failure answers false. */
export async function readyz(kubeconfig: string): Promise<boolean> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  const options = { ca: pem(cluster?.caData), cert: pem(user?.certData), key: pem(user?.keyData), timeout: 60_000, agent: false };
  return new Promise((resolve) => {
    const sent = request(`${cluster?.server}/readyz`, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve(false));
    sent.end();
  });
}

function pem(data: string | undefined): Buffer {
  return Buffer.from(data ?? "", "base64");
}
