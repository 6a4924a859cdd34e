// The rights of Calico's installer and of its CNI plugin, of calico-node-rbac.yaml, without those of Felix and of the BGP daemon.

import { account } from "../role.ts";

const group = "crd.projectcalico.org";
const allocations = ["blockaffinities", "ipamblocks", "ipamhandles"];

const installerRules = [
  { apiGroups: [""], resources: ["serviceaccounts/token"], resourceNames: ["calico-cni-plugin"], verbs: ["create"] },
  { apiGroups: [""], resources: ["pods", "nodes", "namespaces"], verbs: ["get"] },
];

const pluginRules = [
  { apiGroups: [""], resources: ["pods", "nodes", "namespaces"], verbs: ["get"] },
  { apiGroups: [""], resources: ["pods/status"], verbs: ["patch"] },
  {
    apiGroups: [group],
    resources: [...allocations, "clusterinformations", "ippools", "ipreservations", "ipamconfigs"],
    verbs: ["get", "list", "create", "update", "delete"],
  },
];

/** Service accounts, roles and bindings of the installer and of the plugin. */
export function roles(namespace: string): readonly object[] {
  return [...account(namespace, "calico-node", installerRules), ...account(namespace, "calico-cni-plugin", pluginRules)];
}
