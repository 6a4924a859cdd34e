// The API server as a pod's environment names it, and the kubeconfig of one-shot engines on the node.

/** File name of the kubeconfig for one-shot engines, in its directory. */
export const nodeKubeconfigName = "kubeconfig";

/** The URL of the server that the kubelet puts into a container's environment; undefined outside of a pod. */
export function inClusterServer(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "443" } = environment;
  if (host === "") return undefined;
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
