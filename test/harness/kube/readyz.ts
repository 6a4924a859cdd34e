// Whether an API server says that it is ready.

import { request } from "node:https";

import { KubeConfig } from "@kubernetes/client-node";

/** Asks /readyz; false for whatever goes wrong. */
export async function readyz(kubeconfig: string): Promise<boolean> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  const options = { ca: pem(cluster?.caData), cert: pem(user?.certData), key: pem(user?.keyData), timeout: 2000, agent: false };
  return new Promise((resolve) => {
    const asked = request(`${cluster?.server}/readyz`, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(false));
    asked.end();
  });
}

function pem(data: string | undefined): Buffer {
  return Buffer.from(data ?? "", "base64");
}
